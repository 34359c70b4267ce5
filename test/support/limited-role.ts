import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { databaseUrl, rowsOf } from './server.ts';

export interface LimitedRole {
  /** The same database, as this role. */
  readonly url: string;
  /** What it has from now on, as `ALTER ROLE` takes it. */
  change(what: string): Promise<void>;
}

/** A role of a test's own that may do what the tests' own role may, and has only so many connections. */
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
  // After the gateway has gone, and the database with what belongs to the role.
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
