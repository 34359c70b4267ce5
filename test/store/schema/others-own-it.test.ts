import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { openDatabase } from '../../support/database.ts';
import { rowsOf } from '../../support/server.ts';

const RUNBOOK = new URL('../../../docs/runbooks/postgresql.md', import.meta.url);

/** The database as another role with only a gateway role's own rights: it may connect, and owns nothing. */
async function gatewayRole(url: string): Promise<{ readonly name: string; readonly url: string }> {
  const name = `gateway_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await rowsOf(url, `CREATE ROLE ${name} LOGIN PASSWORD '${password}'`);
  const own = new URL(url);
  Object.assign(own, { username: name, password });
  return { name, url: own.href };
}

it('a journal that was restored as a superuser is the gateway’s after what the runbook says', async () => {
  const database = await openDatabase();
  const role = await gatewayRole(database.url);
  onTestFinished(async () => {
    await database.client.query(`DROP OWNED BY ${role.name}; DROP ROLE ${role.name}`);
    await database.drop();
  });
  const nextYear = `SELECT journal_prepare_month(now() + interval '12 months') AS made`;
  await expect(rowsOf(role.url, nextYear)).rejects.toThrow(/must be owner|permission denied/);

  const [, statements = ''] = /```sql\n(.*?)```/s.exec(await readFile(RUNBOOK, 'utf8')) ?? [];
  await database.client.query(statements.replaceAll('gateway_role', role.name));
  expect(await rowsOf(role.url, nextYear)).toEqual([{ made: 2 }]);
  // As a later release alters tables and replaces functions.
  await rowsOf(role.url, 'ALTER TABLE attempts ADD COLUMN later INTEGER');
  await rowsOf(role.url, 'ALTER FUNCTION journal_has_table(TEXT, TEXT) COST 10');
  expect(await migrate(role.url)).toEqual({ applied: [] });
});
