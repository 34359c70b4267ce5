import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { whatIsPending } from '../../../src/store/schema/journal-database.ts';
import { MigrationError, migrate } from '../../../src/store/schema/migrate.ts';
import { createBareDatabase, createDatabase, type TestDatabase } from '../../support/database.ts';
import { pendingThere } from '../../support/migrations.ts';
import { connect, rowsOf } from '../../support/server.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { PATIENT_MS } from '../../support/timing.ts';
import { prismaDeploy, prismaStatus, sqlOfSchema } from './support/schema-engine.ts';

let database: TestDatabase;
let folder: string;
beforeEach(async () => {
  database = await createBareDatabase();
  folder = await mkdtemp(join(tmpdir(), 'wagergate-migrations-'));
  await writeFile(join(folder, 'migration_lock.toml'), 'provider = "postgresql"\n');
});
afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, name, 'migration.sql'), sql);
}

const tables = () =>
  rowsOf(
    database.url,
    `SELECT tablename FROM pg_tables WHERE schemaname = 'public'
     AND tablename <> '_prisma_migrations' ORDER BY 1`,
  );

describe('migrate', () => {
  it('applies what is pending, in order, and once', async () => {
    await write('2_second', 'ALTER TABLE a ADD COLUMN c INT;');
    await write('1_first', 'CREATE TABLE a (b INT);');
    expect(await pendingThere(database.url, folder)).toEqual(['1_first', '2_second']);
    expect(await migrate(database.url, { folder })).toEqual({ applied: ['1_first', '2_second'] });
    expect(await pendingThere(database.url, folder)).toEqual([]);
    expect(await migrate(database.url, { folder })).toEqual({ applied: [] });
    await write('3_third', 'CREATE TABLE d ();');
    expect(await migrate(database.url, { folder })).toEqual({ applied: ['3_third'] });
  });

  it('applies once when several begin at the same moment', async () => {
    await write('1_slow', 'SELECT pg_sleep(0.3); CREATE TABLE a ();');
    const said: string[] = [];
    const log = (line: string) => said.push(line);
    const results = await Promise.all(
      Array.from({ length: 4 }, () => migrate(database.url, { folder, log })),
    );
    expect(results.flatMap((result) => result.applied)).toEqual(['1_slow']);
    expect(said).toContain('another process is applying migrations: waiting for it');
    expect(said).toContain('migration 1_slow applied');
  });

  describe('whose table somebody reads in a transaction that does not end', () => {
    let reader: Client;
    beforeEach(async () => {
      await rowsOf(database.url, 'CREATE TABLE a (b INT)');
      await write('1_first', 'ALTER TABLE a ADD COLUMN c INT');
      reader = await connect(database.url);
      await reader.query(`BEGIN; SELECT * FROM a`);
    });
    afterEach(() => reader.end());

    it('lets callbacks pass while it waits, and is applied as soon as it can (I1)', async () => {
      const waits = Promise.withResolvers<string>();
      const migrating = migrate(database.url, {
        folder,
        locks: { tries: 10, pauseMs: 1_000 },
        log: waits.resolve,
      });
      const line = await Promise.race([waits.promise, migrating]);
      expect(line).toBe('migration 1_first waits, and tries again: others hold its tables');
      await rowsOf(database.url, `SET statement_timeout = '900ms'; SELECT * FROM a`);
      await reader.query('COMMIT');
      expect(await migrating).toEqual({ applied: ['1_first'] });
    });

    it('gives up at last, and can be begun again', async () => {
      const once = { folder, locks: { tries: 1, pauseMs: 0 } };
      await expect(migrate(database.url, once)).rejects.toThrow(
        '1_first could not be applied: others hold its tables: wait for them',
      );
      await reader.query('COMMIT');
      expect(await migrate(database.url, once)).toEqual({ applied: ['1_first'] });
    });
  });

  it('applies a migration wholly or not at all, and goes on once it is mended', async () => {
    await write('1_good', 'CREATE TABLE a ();');
    await write('2_bad', '-- ü\nCREATE TABLE b ();\nCREATE TABLE a ();\nSELECT 1 FROM nowhere;');
    await write('3_after', 'CREATE TABLE c ();');
    const failure = migrate(database.url, { folder });
    await expect(failure).rejects.toThrow(MigrationError);
    await expect(failure).rejects.toThrow(
      'migration 2_bad could not be applied: relation "a" already exists',
    );
    expect(await tables()).toEqual([{ tablename: 'a' }]);
    expect(await pendingThere(database.url, folder)).toEqual(['2_bad', '3_after']);
    await write('2_bad', 'CREATE TABLE b ();');
    expect(await migrate(database.url, { folder })).toEqual({ applied: ['2_bad', '3_after'] });
    expect(await pendingThere(database.url, folder)).toEqual([]);
  });

  it('begins again what a killed process left unfinished', async () => {
    await write('1_first', 'CREATE TABLE a ();');
    await migrate(database.url, { folder });
    await write('2_killed', 'CREATE TABLE b ();');
    await rowsOf(
      database.url,
      `INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('x', 'x', '2_killed')`,
    );
    expect(await migrate(database.url, { folder })).toEqual({ applied: ['2_killed'] });
    expect(await tables()).toEqual([{ tablename: 'a' }, { tablename: 'b' }]);
  });

  it('is given up by the server, lock and all, when the process that applies it is gone', async () => {
    await write('1_endless', 'CREATE TABLE a (); SELECT pg_sleep(60);');
    const proxy = await startTcpProxy(database.url);
    const applying = migrate(proxy.through(database.url), { folder });
    const failed = expect(applying).rejects.toThrow('migration 1_endless could not be applied');
    const sleeping = `SELECT pid FROM pg_stat_activity
      WHERE query LIKE '%pg_sleep(60)%' AND pid <> pg_backend_pid() AND datname = current_database()`;
    await vi.waitFor(
      async () => expect(await rowsOf(database.url, sleeping)).toHaveLength(1),
      PATIENT_MS,
    );
    proxy.reset();
    await failed;
    await vi.waitFor(async () => expect(await rowsOf(database.url, sleeping)).toEqual([]), 10_000);
    await proxy.close();
    await write('1_endless', 'CREATE TABLE a ();');
    expect(await migrate(database.url, { folder })).toEqual({ applied: ['1_endless'] });
  });

  it('does not mind migrations of a newer release', async () => {
    await write('1_first', 'CREATE TABLE a ();');
    await write('2_newer', 'CREATE TABLE b ();');
    await migrate(database.url, { folder });
    await rm(join(folder, '2_newer'), { recursive: true });
    expect(await pendingThere(database.url, folder)).toEqual([]);
    expect(await migrate(database.url, { folder })).toEqual({ applied: [] });
  });

  it('fails with the reason if there is no server', async () => {
    const url = 'postgresql://nobody@127.0.0.1:1/none';
    await expect(migrate(url, { folder })).rejects.toThrow(/ECONNREFUSED|EPIPE/);
    await expect(whatIsPending(url)).rejects.toThrow(/ECONNREFUSED|EPIPE/);
  });
});

describe('the history of migrations', () => {
  const HISTORY = `SELECT migration_name, checksum, applied_steps_count, logs, rolled_back_at,
    finished_at >= started_at AS finished, length(id) AS id_length
    FROM _prisma_migrations ORDER BY started_at`;
  const HISTORY_TABLE = `
    SELECT column_name, ordinal_position, data_type, character_maximum_length, is_nullable,
      column_default FROM information_schema.columns
    WHERE table_name = '_prisma_migrations' ORDER BY 1`;

  it('is, row by row and column by column, what the Prisma CLI would have written', async () => {
    const other = await createBareDatabase();
    await write('1_first', "CREATE TABLE a (b TEXT DEFAULT 'ü');\r\n-- the end");
    await write('2_second', 'CREATE TABLE c ();\n');
    await migrate(database.url, { folder });
    await prismaDeploy(other.url, folder);
    for (const query of [HISTORY, HISTORY_TABLE]) {
      const ours = await rowsOf(database.url, query);
      expect(ours).toEqual(await rowsOf(other.url, query));
      expect(ours).not.toEqual([]);
    }
    await other.drop();
  });

  it('lets the Prisma CLI go on from where we are, and us from where it is', async () => {
    await write('1_ours', 'CREATE TABLE a ();');
    await migrate(database.url, { folder });
    expect(await prismaStatus(database.url, folder)).toMatchObject({
      hasMigrationsTable: true,
      history: null,
      editedMigrationNames: [],
      failedMigrationNames: [],
    });
    await write('2_theirs', 'CREATE TABLE b ();');
    expect(await prismaDeploy(database.url, folder)).toEqual(['2_theirs']);
    await write('3_ours', 'CREATE TABLE c ();');
    expect(await migrate(database.url, { folder })).toEqual({ applied: ['3_ours'] });
    expect(await prismaDeploy(database.url, folder)).toEqual([]);
  });

  it('shows the Prisma CLI which one failed, and why', async () => {
    await write('1_bad', 'SELECT 1 FROM nowhere;');
    await expect(migrate(database.url, { folder })).rejects.toThrow(MigrationError);
    expect((await prismaStatus(database.url, folder)).failedMigrationNames).toEqual(['1_bad']);
    expect(await rowsOf(database.url, 'SELECT logs FROM _prisma_migrations')).toEqual([
      { logs: 'relation "nowhere" does not exist' },
    ]);
  });
});

const COLUMNS = `
  SELECT table_name, column_name, data_type, is_nullable, column_default, datetime_precision
  FROM information_schema.columns
  WHERE table_schema = 'public' AND table_name <> '_prisma_migrations'
    AND NOT (SELECT relispartition FROM pg_class WHERE oid = table_name::regclass) ORDER BY 1, 2`;

// Partial indexes, checks, partitions and storage parameters are beyond Prisma's schema; only the migrations have
// them.
const INDEXES = `
  SELECT replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') AS definition, indisprimary
  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE relnamespace = 'public'::regnamespace AND indpred IS NULL AND NOT relispartition
    AND relname <> '_prisma_migrations_pkey' ORDER BY 1`;

const FOREIGN_KEYS = `
  SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
  WHERE contype = 'f' ORDER BY 1, 2`;

describe('the migrations of this repository', () => {
  it('lead to what schema.prisma describes', async () => {
    const migrated = await createDatabase();
    const schema = await readFile(
      new URL('../../../prisma/schema.prisma', import.meta.url),
      'utf8',
    );
    await rowsOf(database.url, await sqlOfSchema(database.url, schema));
    for (const catalog of [COLUMNS, INDEXES, FOREIGN_KEYS]) {
      const described = await rowsOf(database.url, catalog);
      expect(await rowsOf(migrated.url, catalog)).toEqual(described);
    }
    expect(await rowsOf(database.url, COLUMNS)).not.toEqual([]);
    await migrated.drop();
  });
});
