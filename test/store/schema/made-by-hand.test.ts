import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Client } from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createBareDatabase, type TestDatabase } from '../../support/database.ts';
import { migrationStatus } from '../../support/migrations.ts';
import { connect, rowsOf, waitForLock } from '../../support/server.ts';

const FOLDER = resolve(import.meta.dirname, '../../../prisma/migrations');
const NAMES = readdirSync(FOLDER)
  .filter((name) => /^\d/.test(name))
  .sort();

/** What the changelog has people create by hand in advance for large tables, as written in the scripts. */
const BY_HAND = /^CREATE (?:OR REPLACE FUNCTION|FUNCTION|INDEX IF NOT EXISTS) [^;]+;/gm;

/** With indexes on tables that are not partitioned: only these can be created `CONCURRENTLY`. */
const ADVISED = NAMES.filter((name) =>
  /IF NOT EXISTS[^;]+ ON "(?:bets|deliveries)"/.test(scriptOf(name)),
).filter((name) => !name.endsWith('_books'));

function scriptOf(name: string): string {
  return readFileSync(join(FOLDER, name, 'migration.sql'), 'utf8');
}

let database: TestDatabase;
let folder: string;
let person: Client;
beforeEach(async () => {
  database = await createBareDatabase();
  folder = await mkdtemp(join(tmpdir(), 'wagergate-migrations-'));
  person = await connect(database.url);
});
afterEach(async () => {
  await person.end();
  await database.drop();
  await rm(folder, { recursive: true });
});

/** The schema before this migration. */
async function migrateUpTo(name: string): Promise<void> {
  for (const one of NAMES.filter((other) => other < name)) {
    await cp(join(FOLDER, one), join(folder, one), { recursive: true });
  }
  await migrate(database.url, { folder });
}

it('looks at several migrations', () => {
  expect(ADVISED.length).toBeGreaterThanOrEqual(4);
});

it.each(ADVISED)('%s takes what was made by hand before', async (name) => {
  await migrateUpTo(name);
  const made = scriptOf(name).match(BY_HAND) ?? [];
  for (const statement of made) {
    await person.query(statement.replace('CREATE INDEX', 'CREATE INDEX CONCURRENTLY'));
  }
  const { applied } = await migrate(database.url);
  expect(applied[0]).toBe(name);
});

it('is not applied over an index that was interrupted while it was made by hand', async () => {
  const name = '20261122090000_unresolved_by_operator';
  await migrateUpTo(name);
  const reader = await connect(database.url);
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT * FROM bets');
  const [index = ''] = scriptOf(name).match(BY_HAND) ?? [];
  await person.query(`SET statement_timeout = '300ms'`);
  const making = person.query(index.replace('CREATE INDEX', 'CREATE INDEX CONCURRENTLY'));
  await Promise.all([
    expect(making).rejects.toThrow('canceling statement due to statement timeout'),
    waitForLock(database.url),
  ]);
  await reader.end();

  await expect(migrate(database.url)).rejects.toThrow(
    `migration ${name} could not be applied: bets_unresolved_idx was begun by hand and not finished`,
  );
  expect((await migrationStatus(database.url)).failed).toEqual([name]);
  await rowsOf(database.url, 'DROP INDEX bets_unresolved_idx');
  expect((await migrate(database.url)).applied[0]).toBe(name);
  const whole = `SELECT indisvalid FROM pg_index WHERE indexrelid = 'bets_unresolved_idx'::regclass`;
  expect(await rowsOf(database.url, whole)).toEqual([{ indisvalid: true }]);
});
