import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { databaseUrl, onServer } from './server.ts';

export interface TestDatabase {
  readonly url: string;
  /** Drops it, whoever is still connected. */
  drop(): Promise<void>;
}

/** A database of the test's own, migrated and empty: a copy of the run's template. */
export async function createDatabase(): Promise<TestDatabase> {
  return create(`TEMPLATE ${inject('templateDatabase')}`);
}

/** A database with nothing in it, for tests of the migrations themselves. */
export async function createBareDatabase(): Promise<TestDatabase> {
  return create('TEMPLATE template0');
}

async function create(how: string): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  const name = `${inject('databasePrefix')}_${randomBytes(5).toString('hex')}`;
  await onServer(serverUrl, (client) => client.query(`CREATE DATABASE ${name} ${how}`));
  return {
    url: databaseUrl(serverUrl, name),
    async drop() {
      await onServer(serverUrl, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}
