import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createBareDatabase } from '../../support/database.ts';
import { connect, rowsOf, waitForLock } from '../../support/server.ts';

it('lets a callback pass that waits for the migration while that waits for it, and tries again (I1)', async (context) => {
  const database = await createBareDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-migrations-'));
  context.onTestFinished(async () => {
    await database.drop();
    await rm(folder, { recursive: true });
  });
  await rowsOf(database.url, 'CREATE TABLE a (b INT); CREATE TABLE c (b INT)');
  await mkdir(join(folder, '1_both'));
  await writeFile(
    join(folder, '1_both', 'migration.sql'),
    'ALTER TABLE a ADD COLUMN d INT; ALTER TABLE c ADD COLUMN d INT',
  );
  const callback = await connect(database.url);
  // The server cancels whoever looks for the deadlock first: the migration.
  await callback.query(`BEGIN; SET LOCAL deadlock_timeout = '5s'; INSERT INTO c VALUES (1)`);
  const migrating = migrate(database.url, { folder, locks: { tries: 2, pauseMs: 100 } });
  await Promise.race([migrating, waitForLock(database.url)]);
  await callback.query('INSERT INTO a VALUES (1); COMMIT');
  await callback.end();
  expect(await migrating).toEqual({ applied: ['1_both'] });
});
