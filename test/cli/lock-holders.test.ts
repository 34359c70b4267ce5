import { PassThrough, Readable } from 'node:stream';
import type { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { run } from '../../src/cli/run.ts';
import { Terminal } from '../../src/cli/terminal.ts';
import { folderWith, GATEWAY, operatorYaml } from '../config/support/folder.ts';
import { type OpenDatabase, openDatabase } from '../support/database.ts';
import { connect } from '../support/server.ts';
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
    ['players forget', 'LOCK TABLE players', ['players', 'forget', 'ann-1', '--reason', 'DSR-4']],
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

it('a migration that another one keeps waiting names it, and not how to end it', async () => {
  holder = await connect(database.url);
  await holder.query(`SET application_name = 'wagergate-migrate'; BEGIN`);
  await holder.query('LOCK TABLE _prisma_migrations');
  const said = await spoken(['migrate', '--json']);
  expect(said).toContain('wagergate-migrate, idle in transaction');
  expect(said).not.toContain('pg_terminate_backend');
});
