import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBareDatabase, type TestDatabase } from '../../support/database.ts';
import { spawnWagergate, wagergate } from '../support/command-line.ts';

let database: TestDatabase;
let env: { readonly DATABASE_URL: string };
beforeAll(async () => {
  database = await createBareDatabase();
  env = { DATABASE_URL: database.url };
});
afterAll(() => database.drop());

describe('wagergate migrate', () => {
  it('applies every migration to an empty database, once, and prints each', async () => {
    const before = await wagergate(['bet', 'b'], { env });
    expect(before.code).toBe(1);
    expect(before.stderr).toMatch(/^error: the database lacks .*run `wagergate migrate`\n$/);

    const first = await spawnWagergate(['migrate'], { env });
    expect({ code: first.code, stderr: first.stderr }).toEqual({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/^(migration \d+_\w+ applied\n)+$/);

    const again = await wagergate(['migrate'], { env });
    expect(again).toEqual({ code: 0, stdout: 'the database is up to date\n', stderr: '' });
    const json = await wagergate(['migrate', '--json'], { env });
    expect(JSON.parse(json.stdout)).toEqual({ applied: [] });
  });

  it('uses the address without a pooler if there is one', async () => {
    const pooled = 'postgresql://user:password@127.0.0.1:1/wagergate';
    const both = { DATABASE_URL: pooled, DATABASE_DIRECT_URL: database.url };
    const { code, stdout } = await wagergate(['migrate'], { env: both });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'the database is up to date\n' });
    const neither = await wagergate(['migrate'], { env: { ...env, DATABASE_DIRECT_URL: pooled } });
    expect(neither.stderr).toMatch(
      /cannot be reached \(.*\): start it, or correct DATABASE_DIRECT_URL\n$/,
    );
  });

  it('shows nothing of a password that is not percent-encoded', async () => {
    const env = { DATABASE_URL: 'postgresql://127.0.0.1:1/geheim@db:5432/wagergate' };
    const { code, stderr } = await wagergate(['migrate'], { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: PostgreSQL \(postgresql:\/\/…, not shown: .*cannot be reached/);
    expect(stderr).not.toContain('geheim');
  });

  it('says which database there is not', async () => {
    const url = new URL(database.url);
    url.pathname = '/nowhere';
    const { code, stderr } = await wagergate(['migrate'], { env: { DATABASE_URL: url.href } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: PostgreSQL \(.*\/nowhere\) has no such database: create it, /);
    expect(stderr).not.toContain(url.password || 'no password');
  });
});
