import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../embedded/postgres.ts';
import { withClient } from '../with-client.ts';

/** What all deployments of a run share. */
export interface Servers {
  /** @returns the URL of a new, empty database */
  database(): Promise<string>;
  close(): Promise<void>;
}

const COMPILED = fileURLToPath(
  new URL('../../../node_modules/.cache/wagergate/compiled', import.meta.url),
);

/** An embedded PostgreSQL, or the one named in `TEST_DATABASE_URL`. */
export async function openServers(): Promise<Servers> {
  process.env.NODE_COMPILE_CACHE ??= COMPILED;
  const given = process.env.TEST_DATABASE_URL;
  const own =
    given === undefined || given === ''
      ? await startPostgres({ fast: true, settings: { max_connections: '1000' } })
      : undefined;
  const serverUrl = own?.url ?? given ?? '';
  const created: string[] = [];
  const run = (statements: readonly string[]) =>
    withClient(serverUrl, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  return {
    database: async () => {
      const name = `wagergate_torture_${randomBytes(5).toString('hex')}`;
      await run([`CREATE DATABASE ${name} TEMPLATE template0`]);
      created.push(name);
      const url = new URL(serverUrl);
      url.pathname = `/${name}`;
      return url.href;
    },
    close: async () => {
      if (own === undefined) {
        await run(created.map((name) => `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
      }
      await own?.stop();
    },
  };
}

const FIRST_PORT = 12_000;
const LAST_PORT = 31_999;
const handedOut = new Set<number>();

/** A port on which nobody listens, handed out once, below the range of local ports. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT));
    if (handedOut.has(port) || !(await isFree(port))) continue;
    handedOut.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening');
    return true;
  } catch {
    // The port is taken.
    return false;
  } finally {
    probe.close();
  }
}
