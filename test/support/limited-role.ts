import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { databaseUrl, rowsOf } from './server.ts';

export interface LimitedRole {
  /** The same database, as this role. */
  readonly url: string;
  /** Changes the role, with the words of `ALTER ROLE`. */
  change(what: string): Promise<void>;
}

/** A test's own role with the rights of the tests' role, but only this many connections. */
export async function limitedRole(url: string, connections: number): Promise<LimitedRole> {
  const limited = new URL(url);
  const server = databaseUrl(url, 'postgres');
  const name = `limited_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await rowsOf(
    server,
    `CREATE ROLE ${name} LOGIN PASSWORD '${password}' CONNECTION LIMIT ${connections}
            IN ROLE "${limited.username}"`,
  );
  // Only after the gateway is closed, and the database with everything that belongs to the role is dropped.
  onTestFinished(async () => {
    await rowsOf(server, `DROP ROLE ${name}`);
  });
  Object.assign(limited, { username: name, password });
  return {
    url: limited.href,
    change: async (what) => {
      await rowsOf(server, `ALTER ROLE ${name} ${what}`);
    },
  };
}
