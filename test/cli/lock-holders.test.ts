import { PassThrough, Readable } from 'node:stream';
import type { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { folderWith, GATEWAY, operatorYaml } from '../config/support/folder.ts';
import { type OpenDatabase, openDatabase } from '../support/database.ts';
import { connect, waitForLock } from '../support/server.ts';
import { wagergate } from './support/command-line.ts';

let database: OpenDatabase;
let holder: Client;
let env: { readonly DATABASE_URL: string; readonly GATEWAY_CONFIG: string };
beforeAll(async () => {
  database = await openDatabase();
  await database.client.query(`
    INSERT INTO players (user_id, operator_id, operator_user) VALUES ('ann-1', 'alpha', 'ann')`);
});
beforeEach(() => {
  const GATEWAY_CONFIG = folderWith({
    'gateway.yaml': GATEWAY,
    'operators/alpha.yaml': operatorYaml('alpha'),
  });
  env = { DATABASE_URL: database.url, GATEWAY_CONFIG };
});
afterAll(() => database.drop());
afterEach(() => holder.end());

/** A session that holds a lock, with text that must not reach a terminal unescaped. */
async function hold(statement: string): Promise<number> {
  holder = await connect(database.url);
  await holder.query(`SET application_name = 'psql of Al'; BEGIN`);
  await holder.query(statement);
  const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  await holder.query(`SELECT 'typed: \u001b[31mred'`);
  return rows[0]?.pid ?? 0;
}

/** What a command prints while it waits; then the lock is released, and it ends. */
async function spoken(args: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough().resume(), new PassThrough()];
  let said = '';
  stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const ran = run(args, new Terminal({ env, stdin: Readable.from([]), stdout, stderr }));
  await expect.poll(() => said, { timeout: 20_000 }).toContain('waiting for a lock');
  await holder.query('ROLLBACK');
  await ran;
  return said;
}

describe('a command that waits for a lock', () => {
  it.each([
    ['books rebuild', 'LOCK TABLE books_cursor', ['books', 'rebuild']],
    ['players forget', 'LOCK TABLE players', ['players', 'forget', 'ann-1', '--reason', 'DSR-4']],
    ['players export', 'LOCK TABLE audit', ['players', 'export', 'ann-1']],
    [
      'deliveries resume',
      `UPDATE operator_holds SET hold_actor = 'by hand'`,
      ['deliveries', 'resume', '--operator', 'alpha'],
    ],
  ])('%s says who holds it, and how to end that', async (_, statement, args) => {
    await wagergate(['deliveries', 'hold', '--operator', 'alpha', '--reason', 'OPS-1'], { env });
    const pid = await hold(statement);
    const said = await spoken(args);
    expect(said).toMatch(
      new RegExp(
        `waiting for a lock of PostgreSQL's session ${pid} \\(.*psql of Al, idle in transaction, in a transaction for \\d+ s\\)`,
      ),
    );
    expect(said).toContain(`SELECT pg_terminate_backend(${pid})`);
    expect(said).not.toContain('\u001b');
  });
});

it('names only the last session of those that wait for each other', async () => {
  const pid = await hold('LOCK TABLE books_cursor IN SHARE MODE');
  const between = await connect(database.url);
  const waits = between.query('BEGIN; LOCK TABLE books_cursor; COMMIT');
  await waitForLock(database.url);
  const said = await spoken(['books', 'rebuild']);
  expect(said.match(/session \d+/g)).toEqual([`session ${pid}`]);
  await waits;
  await between.end();
});

it('a migration that another one keeps waiting names it, and not how to end it', async () => {
  holder = await connect(database.url);
  await holder.query(`SET application_name = 'wagergate-migrate'; BEGIN`);
  await holder.query('LOCK TABLE _prisma_migrations');
  const said = await spoken(['migrate', '--json']);
  expect(said).toContain('wagergate-migrate, idle in transaction');
  expect(said).not.toContain('pg_terminate_backend');
});

it('does not take those for its holder that wait for it, such as the bookkeeper of a running gateway', async () => {
  holder = await connect(database.url);
  await holder.query(`
    CREATE FUNCTION slow() RETURNS TRIGGER LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(4); RETURN NULL; END $$;
    CREATE TRIGGER slow AFTER UPDATE ON books_cursor FOR EACH STATEMENT EXECUTE FUNCTION slow()`);
  const ran = wagergate(['books', 'rebuild'], { env });
  const holds = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
  await expect.poll(async () => (await holder.query(holds)).rowCount).toBe(1);
  await holder.query(`SET application_name = 'wagergate-books'`);
  await holder.query('SELECT FROM books_cursor FOR UPDATE');
  await holder.query('DROP FUNCTION slow CASCADE');
  expect(await ran).toMatchObject({ code: 0, stderr: '' });
});

it('does not mention waiting if it waits for nobody', async () => {
  holder = await connect(database.url);
  const { stderr } = await wagergate(['books', 'rebuild'], { env });
  expect(stderr).not.toContain('waiting for a lock');
});
