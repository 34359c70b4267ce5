import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../src/store/database.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import { statement } from '../../src/store/statement.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { letNobodyIn } from '../support/server.ts';

const ONE = statement('one', {}, 'SELECT 1 AS one', (row) => row.int('one'));
const LOST = { name: 'GatewayError', code: 'DATABASE_UNAVAILABLE' };

let server: TestDatabase;
beforeAll(async () => {
  server = await createDatabase();
});
afterAll(() => server.drop());

const open = (url: string, plans?: 'kept') =>
  new Database({ url, connectionsMax: 1, onIdleError: () => undefined, ...(plans && { plans }) });

it.each([undefined, 'kept'] as const)(
  'says DATABASE_UNAVAILABLE while the server is there and lets nobody in (plans: %s)',
  async (plans) => {
    const database = open(server.url, plans);
    expect(await database.run(ONE, {})).toEqual([1]);
    const letIn = await letNobodyIn(server.url);
    // The connection that it had, and a new one.
    await expect(database.run(ONE, {})).rejects.toMatchObject(LOST);
    await expect(database.run(ONE, {})).rejects.toMatchObject(LOST);
    await letIn();
    expect(await database.run(ONE, {})).toEqual([1]);
    await database.close();
  },
);

it.each([
  ['a database', (url: URL) => ({ pathname: `${url.pathname}_gone` })],
  ['a role', () => ({ username: 'nobody' })],
])('says so of %s that is not there (any more), as the cold paths do', async (_, change) => {
  const url = new URL(server.url);
  const { href } = Object.assign(url, change(url));
  const database = open(href);
  await expect(database.run(ONE, {})).rejects.toMatchObject(LOST);
  await database.close();
  const prisma = createPrisma(href);
  await expect(prisma.$queryRaw`SELECT 1`).rejects.toMatchObject(LOST);
  await expect(prisma.bet.count()).rejects.toMatchObject(LOST);
  await prisma.$disconnect();
});
