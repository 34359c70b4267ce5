import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { prune } from '../../../src/store/prune/prune.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createBareDatabase } from '../../support/database.ts';
import { databaseUrl, onServer, rowsOf } from '../../support/server.ts';

interface Roles {
  readonly url: string;
  readonly owner: string;
  readonly member: string;
  /** The database as one of them. */
  as(role: string): string;
}

/** An empty database with a schema of its own, a role that owns it, and a member of that role. */
async function ownerAndMember(): Promise<Roles> {
  const database = await createBareDatabase();
  const [owner, member] = ['owner', 'member'].map(
    (one) => `${one}_${randomBytes(6).toString('hex')}`,
  );
  if (owner === undefined || member === undefined) throw new Error('two names were made');
  const password = randomBytes(12).toString('hex');
  const name = new URL(database.url).pathname.slice(1);
  await onServer(database.url, async (client) => {
    await client.query(
      `CREATE ROLE ${owner} LOGIN PASSWORD '${password}';
       CREATE ROLE ${member} LOGIN PASSWORD '${password}' IN ROLE ${owner};
       CREATE SCHEMA journal AUTHORIZATION ${owner};
       ALTER DATABASE ${name} SET search_path = journal`,
    );
  });
  onTestFinished(async () => {
    await database.drop();
    await rowsOf(databaseUrl(database.url, 'postgres'), `DROP ROLE IF EXISTS ${member}, ${owner}`);
  });
  const as = (username: string) =>
    Object.assign(new URL(database.url), { username, password }).href;
  return { url: database.url, owner, member, as };
}

const monthFrom = (months: number) =>
  `SELECT journal_prepare_month(now() + make_interval(months => ${months})) AS made`;

it('months that a member of the owner makes are the owner’s: it prunes them, adds columns, and the member may go', async () => {
  const { url, owner, member, as } = await ownerAndMember();
  await migrate(as(owner));
  for (const months of [-12, 12]) {
    expect(await rowsOf(as(member), monthFrom(months))).toEqual([{ made: 2 }]);
  }

  // As a later release does, and as pg_dump reads.
  await rowsOf(as(owner), 'ALTER TABLE attempts ADD COLUMN later INTEGER');
  await rowsOf(as(owner), 'BEGIN; LOCK TABLE operations, attempts IN ACCESS SHARE MODE; COMMIT');
  const before = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth(), 1));
  const pruned = await prune(as(owner), { before, isDryRun: false, log: () => undefined });
  expect(pruned.months).toMatchObject([{ result: 'dropped' }]);
  await rowsOf(url, `DROP ROLE ${member}`);
});
