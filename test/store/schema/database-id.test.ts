import { expect, inject, it } from 'vitest';
import { databaseId } from '../../../src/store/schema/database-id.ts';
import { createDatabase } from '../../support/database.ts';
import { connect, onServer } from '../../support/server.ts';

it('is the same each time, and another one for a copy of the database', async () => {
  const [one, copy] = [await createDatabase(), await createDatabase()];
  const ids = await Promise.all([one, one, copy].map(({ url }) => databaseId(url)));
  expect(ids[0]).toMatch(/^[0-9a-f]{16}$/);
  expect(ids[1]).toBe(ids[0]);
  expect(ids[2]).not.toBe(ids[0]);
  await Promise.all([one.drop(), copy.drop()]);
});

it('is there also for a role that may not ask which server this is', async () => {
  const one = await createDatabase();
  const role = `nosy_${new URL(one.url).pathname.slice(1)}`;
  const client = await connect(one.url);
  await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret';
    GRANT SELECT ON "_prisma_migrations" TO ${role};
    REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC`);
  const url = new URL(one.url);
  [url.username, url.password] = [role, 'secret'];
  expect(await databaseId(url.href)).toMatch(/^[0-9a-f]{16}$/);
  await client.query(`DROP OWNED BY ${role}`);
  await client.end();
  await one.drop();
  await onServer(inject('postgresUrl'), (server) => server.query(`DROP ROLE ${role}`));
});
