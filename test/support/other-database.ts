import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { databaseUrl, onServer, rowsOf } from './server.ts';

/**
 * Replaces a database by a copy of it, as if it were restored from a dump; all connections break.
 * @param url of a database from `createDatabase`
 */
export async function exchangeDatabase(url: string): Promise<{
  /** All rows of the copy. */
  rowsOfCopy(table: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Puts the first one back. */
  back(): Promise<void>;
}> {
  const name = new URL(url).pathname.slice(1);
  const [copy, original] = ['copy', 'original'].map((what) => `${name}_${what}`);
  const server = databaseUrl(inject('postgresUrl'), 'postgres');
  const end = (database: string) =>
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`;
  const run = (...statements: string[]) =>
    onServer(server, async (client) => {
      for (const one of statements) await client.query(one);
    });
  const allow = (database: string, isAllowed: boolean) =>
    `ALTER DATABASE ${database} ALLOW_CONNECTIONS ${isAllowed}`;
  const rename = (from: string, to: string) => `ALTER DATABASE ${from} RENAME TO ${to}`;
  await run(
    allow(name, false),
    end(name),
    `CREATE DATABASE ${copy} TEMPLATE ${name}`,
    rename(name, original ?? ''),
    rename(copy ?? '', name),
  );
  return {
    rowsOfCopy: (table: string) => rowsOf(url, `SELECT * FROM ${table}`),
    back: () =>
      run(
        allow(name, false),
        end(name),
        rename(name, `${name}_${randomBytes(2).toString('hex')}`),
        rename(original ?? '', name),
        allow(name, true),
      ),
  };
}
