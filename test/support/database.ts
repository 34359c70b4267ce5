import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { inject } from 'vitest';
import { connect, databaseUrl, onServer } from './server.ts';

export interface TestDatabase {
  readonly url: string;
  /** Drops it even while clients are connected. */
  drop(): Promise<void>;
}

/** Creates a test's own database, migrated and empty: a copy of the run's template. */
export async function createDatabase(): Promise<TestDatabase> {
  return create(`TEMPLATE ${inject('templateDatabase')}`);
}

export interface OpenDatabase extends TestDatabase {
  /** A connection to it, closed together with it. */
  readonly client: Client;
}

/** Creates a test's own database as `createDatabase` does, with a connection. */
export async function openDatabase(): Promise<OpenDatabase> {
  const { url, drop } = await createDatabase();
  const client = await connect(url);
  return {
    url,
    client,
    async drop() {
      await client.end();
      await drop();
    },
  };
}

/** An empty database without migrations, for tests of the migrations themselves. */
export async function createBareDatabase(): Promise<TestDatabase> {
  return create('TEMPLATE template0');
}

async function create(how: string): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  const name = `${inject('databasePrefix')}_${randomBytes(5).toString('hex')}`;
  // Copied as files: by default every page would go through the server's memory and its log as well.
  const create = `CREATE DATABASE ${name} ${how} STRATEGY file_copy`;
  await onServer(serverUrl, (client) => client.query(create));
  return {
    url: databaseUrl(serverUrl, name),
    async drop() {
      await onServer(serverUrl, async (client) => {
        // Connections that are just closing would report an error that nobody expects.
        for (let looks = 0; looks < 10 && (await isUsed(client, name)); looks += 1) {
          await client.query('SELECT pg_sleep(0.01)');
        }
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      });
    },
  };
}

async function isUsed(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query('SELECT 1 FROM pg_stat_activity WHERE datname = $1', [name]);
  return rows.length > 0;
}
