import { rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../src/store/database.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import { noRow, statement } from '../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { connect, rowsOf } from '../support/server.ts';
import { AUTHORITY } from '../wallets/support/private-authority.ts';

const LOST = { name: 'GatewayError', code: 'DATABASE_UNAVAILABLE' };
const LOCK = 'SELECT pg_advisory_xact_lock(11)';
const LOCKED = statement('locked', {}, LOCK, noRow);

let server: TestDatabase;
beforeAll(async () => {
  server = await createDatabase();
});
afterAll(() => server.drop());

/** An address that names a file with authorities, which may go. */
async function addressWithFile() {
  const file = join(tmpdir(), `wagergate-authority-${process.pid}.pem`);
  await writeFile(file, AUTHORITY);
  onTestFinished(() => rm(file, { force: true }));
  const url = new URL(server.url);
  url.searchParams.set('sslmode', 'disable');
  url.searchParams.set('sslrootcert', file);
  const away = `${file}.away`;
  return { url: url.href, goes: () => rename(file, away), returns: () => rename(away, file) };
}

/** Keeps everybody waiting who asks for the lock, until their connections are ended. */
async function holdLock() {
  const holder = await connect(server.url);
  onTestFinished(() => holder.end());
  await holder.query('SELECT pg_advisory_lock(11)');
  // Of this database alone: other tests have theirs on the same server.
  const waiting = `FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
                      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  return {
    waitFor: (count: number) =>
      expect.poll(() => rowsOf(server.url, `SELECT pid ${waiting}`)).toHaveLength(count),
    endWaiting: async () => {
      await rowsOf(server.url, `SELECT pg_terminate_backend(pid) ${waiting}`);
      await holder.query('SELECT pg_advisory_unlock(11)');
    },
  };
}

it.each([
  [
    'the hot paths',
    (url: string) => {
      const database = new Database({ url, connectionsMax: 2, onIdleError: () => undefined });
      return { ask: () => database.run(LOCKED, {}), close: () => database.close() };
    },
  ],
  [
    'the cold paths',
    (url: string) => {
      const prisma = createPrisma(url);
      return { ask: () => prisma.$executeRawUnsafe(LOCK), close: () => prisma.$disconnect() };
    },
  ],
])(
  'a file of the address that cannot be read fails what needs a connection, and not the process (%s)',
  async (_, open) => {
    const address = await addressWithFile();
    const pool = open(address.url);
    onTestFinished(() => pool.close());
    const lock = await holdLock();
    const asked = Array.from({ length: 6 }, () => pool.ask().catch((error: unknown) => error));
    await lock.waitFor(2);
    await address.goes();
    await lock.endWaiting();
    expect(await Promise.all(asked)).toEqual(asked.map(() => expect.objectContaining(LOST)));
    await expect(pool.ask()).rejects.toMatchObject(LOST);
    await address.returns();
    await pool.ask();
  },
);
