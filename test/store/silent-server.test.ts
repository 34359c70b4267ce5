import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BooksTransaction } from '../../src/store/books/books-transaction.ts';
import { SideTable } from '../../src/store/reconciliation/side-table.ts';
import { type OpenDatabase, openDatabase } from '../support/database.ts';

let database: OpenDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.drop());

const ESTABLISHED = '01';

/**
 * In how many seconds the kernel will probe the other side of this program's connection. Its table has the local
 * address and the timer: `02` is a probe, then hundredths of a second.
 */
async function askedInSeconds(program: string): Promise<number | undefined> {
  const { rows } = await database.client.query<{ port: number }>(
    `SELECT client_port AS port FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = $1`,
    [program],
  );
  const port = (rows[0]?.port ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8'));
  const lines = (await Promise.all(tables)).flatMap((table) => table.split('\n'));
  const columns = lines.map((line) => line.trim().split(/\s+/));
  const connection = columns.find(
    ([, local, , state]) => state === ESTABLISHED && local?.endsWith(`:${port}`),
  );
  const [kind, ticks = ''] = connection?.[5]?.split(':') ?? [];
  return kind === '02' ? Number.parseInt(ticks, 16) / 100 : undefined;
}

/** Its last data may still be unacknowledged for a moment. */
async function expectAskedSoon(program: string): Promise<void> {
  await expect.poll(() => askedInSeconds(program)).toBeLessThanOrEqual(30);
}

describe.runIf(process.platform === 'linux')('a server that loses its power says nothing', () => {
  it('to what closes a day, and is asked soon whether it is still there', async () => {
    await BooksTransaction.prepared(database.url, () => expectAskedSoon('wagergate-books'));
  });

  it('to a comparison of lists, and is asked soon', async () => {
    const table = await SideTable.open(database.url);
    await expectAskedSoon('wagergate-reconciliation');
    await table.close();
  });
});
