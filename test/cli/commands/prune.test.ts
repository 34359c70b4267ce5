import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { monthsAgo } from '../../../src/cli/commands/prune.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertDelivery } from '../../support/deliveries.ts';
import { wagergate } from '../support/command-line.ts';

let database: OpenDatabase;
let client: Client;
beforeAll(async () => {
  database = await openDatabase();
  ({ client } = database);
});
afterAll(() => database.drop());
const run = (...args: readonly string[]) =>
  wagergate(['prune', ...args], { env: { DATABASE_URL: database.url } });

describe('wagergate prune', () => {
  it('counts whole months back, so that at least what was asked for is kept', () => {
    const now = new Date('2026-11-21T12:00:00Z');
    expect(monthsAgo('5mo', now)).toEqual(new Date('2026-06-01T00:00:00Z'));
    expect(monthsAgo('1y', now)).toEqual(new Date('2025-11-01T00:00:00Z'));
  });

  it.each(['5', '0mo', '-1mo', '5 months', 'mo', '90d'])(
    'does not guess what %s means',
    async (age) => {
      const { code, stderr } = await run('--older-than', age);
      expect(code).toBe(2);
      expect(stderr).toContain('such as 5mo or 1y');
    },
  );

  it('goes by PostgreSQL’s clock: that of this machine may be a year ahead (I4)', async () => {
    const now = new Date();
    vi.useFakeTimers({ toFake: ['Date'], now: now.getTime() + 400 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    const { code, stdout } = await run('--older-than', '5mo', '--dry-run', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      before: monthsAgo('5mo', now).toISOString(),
      months: [],
    });
  });

  it('goes by this machine’s clock where PostgreSQL’s is a year ahead (I4)', async () => {
    const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name');
    const name = rows[0]?.name;
    // Found before PostgreSQL's own function, by connections from now on.
    await client.query(`
      CREATE SCHEMA ahead;
      CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql
        AS $$ SELECT pg_catalog.clock_timestamp() + interval '400 days' $$;
      ALTER DATABASE ${name} SET search_path = ahead, pg_catalog, public`);
    const { stdout } = await run('--older-than', '5mo', '--dry-run', '--json');
    await client.query(`ALTER DATABASE ${name} RESET search_path`);
    const before = monthsAgo('5mo', new Date()).toISOString();
    expect(JSON.parse(stdout)).toMatchObject({ before, months: [] });
  });

  it('refuses a month with something open, names it and fails', async () => {
    const old = new Date();
    old.setUTCMonth(old.getUTCMonth() - 8, 15);
    const id = await insertDelivery(client, { transactionId: 'forgotten', state: 'dead' });
    await client.query('SELECT journal_prepare_month($1)', [old]);
    await client.query(`UPDATE operations SET created_at = $1 WHERE transaction_id = 'forgotten'`, [
      old,
    ]);
    const month = old.toISOString().slice(0, 7);
    const refused = await run('--older-than', '5mo');
    expect(refused.stdout).toContain(
      `${month}: refused, still open:\n  forgotten (alpha): dead_delivery\n`,
    );
    expect(refused.stderr).toContain('1 month(s) refused');
    expect(refused.code).toBe(1);

    await client.query(`UPDATE deliveries SET state = 'resolved' WHERE id = $1`, [id]);
    await client.query(`UPDATE bets SET settlement = 'settled'`);
    const told = await run('--older-than', '5mo', '--dry-run');
    expect(told.stdout).toContain(`${month}: would be dropped\n`);
    const done = await run('--older-than', '5mo', '--json');
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({
      isDryRun: false,
      months: [{ month, result: 'dropped', open: [], carriedOver: 0 }],
    });
  });
});
