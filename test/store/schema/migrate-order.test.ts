import { readdirSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createBareDatabase } from '../../support/database.ts';
import { connect, waitForLock } from '../../support/server.ts';

const FOLDER = resolve(import.meta.dirname, '../../../prisma/migrations');
const BOOKS = '20261122020000_books';

it('the migration of the books locks in the order of callbacks: it is applied at the first try beside them (I1)', async (context) => {
  const database = await createBareDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-migrations-'));
  context.onTestFinished(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });
  const copy = (name: string) => cp(join(FOLDER, name), join(folder, name), { recursive: true });
  const earlier = readdirSync(FOLDER).filter((name) => /^\d/.test(name) && name < BOOKS);
  await Promise.all(earlier.map(copy));
  await migrate(database.url, { folder });
  await copy(BOOKS);

  const callback = await connect(database.url);
  // The server cancels whoever looks for a deadlock first: the migration.
  await callback.query(
    `BEGIN; SET LOCAL deadlock_timeout = '5s'; LOCK TABLE bets IN ROW EXCLUSIVE MODE`,
  );
  const migrating = migrate(database.url, { folder, locks: { tries: 1, pauseMs: 0 } });
  await Promise.race([migrating, waitForLock(database.url)]);
  await callback.query('LOCK TABLE attempts IN ROW EXCLUSIVE MODE; COMMIT');
  await callback.end();
  expect(await migrating).toEqual({ applied: [BOOKS] });
});
