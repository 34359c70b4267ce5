import { createServer } from 'node:net';
import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Database } from '../../src/store/database.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import { SilentConnections } from '../../src/store/server/silent-connections.ts';
import { noRow, statement } from '../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { letNobodyIn } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';

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
  'says DATABASE_UNAVAILABLE while the server is there and refuses connections (plans: %s)',
  async (plans) => {
    const database = open(server.url, plans);
    expect(await database.run(ONE, {})).toEqual([1]);
    const letIn = await letNobodyIn(server.url);
    // The existing connection, and a new one.
    await expect(database.run(ONE, {})).rejects.toMatchObject(LOST);
    await expect(database.run(ONE, {})).rejects.toMatchObject(LOST);
    await letIn();
    expect(await database.run(ONE, {})).toEqual([1]);
    await database.close();
  },
);

it('says of a statement with a bug who has sent it', async () => {
  const database = open(server.url);
  const failed = database.run(statement('bug', {}, 'SELECT 1/0 AS one', noRow), {});
  const error: unknown = await failed.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: '22012' });
  expect(error instanceof Error ? error.stack : '').toContain('Database.run');
  await database.close();
});

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

/** Accepts a connection and ends it at once, like a server that is shutting down. */
async function serverGoingAway() {
  const message = (type: string, ...parts: readonly (string | number)[]) => {
    const body = Buffer.concat(
      parts.map((part) => {
        if (typeof part === 'string') return Buffer.from(part);
        const number = Buffer.alloc(4);
        number.writeInt32BE(part);
        return number;
      }),
    );
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + body.length);
    return Buffer.concat([Buffer.from(type), length, body]);
  };
  const LET_IN = [message('R', 0), message('Z', 'I')];
  const GOING = message('E', 'SFATAL\0C57P01\0Mterminating connection\0\0');
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(Buffer.concat([...LET_IN, GOING])));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  return { url: `postgresql://nobody@127.0.0.1:${address.port}/none`, server };
}

it.each([
  ['of the hot paths', (url: string) => open(url)],
  ['that keep their plans', (url: string) => open(url, 'kept')],
])('outlives a server that ends a connection as it lets it in: those %s', async (_, pool) => {
  const uncaught = vi.fn();
  process.on('uncaughtException', uncaught);
  const { url, server: going } = await serverGoingAway();
  const database = pool(url);
  await expect(database.run(ONE, {})).rejects.toMatchObject(LOST);
  await database.close();
  going.close();
  process.off('uncaughtException', uncaught);
  expect(uncaught).not.toHaveBeenCalled();
});

it('keeps its connections where the server is only slow: there might be no place for others', async () => {
  const pidAfter = statement(
    'pid-after',
    { seconds: ['float8', (seconds: number) => seconds] },
    'SELECT pg_backend_pid()::text AS pid FROM pg_sleep(:seconds)',
    (row) => row.text('pid'),
  );
  const database = new Database({
    ...{ url: server.url, connectionsMax: 3, onIdleError: () => undefined },
  });
  const others = open(server.url);
  const idle = await Promise.all([0.1, 0.1].map((seconds) => database.run(pidAfter, seconds)));
  const slow = database.run(pidAfter, 1.5);
  await others.run(pidAfter, 1.1);
  const used = await Promise.all([database.run(pidAfter, 0), slow]);
  expect(used.flat().sort()).toEqual(idle.flat().sort());
  await database.close();
  await others.close();
});

it('uses no dead connection of which another pool has learned', async (context) => {
  const proxy = await startTcpProxy(server.url);
  context.onTestFinished(() => proxy.close());
  const shared = { url: proxy.through(server.url), silent: new SilentConnections<PoolClient>() };
  const [asking, idle] = [1, 2].map(
    () => new Database({ ...shared, connectionsMax: 2, onIdleError: () => undefined }),
  );
  if (asking === undefined || idle === undefined) throw new Error('no pools');
  for (const database of [asking, idle]) expect(await database.run(ONE, {})).toEqual([1]);
  proxy.strand();
  const unanswered = asking.run(ONE, {}).catch(() => 'given up');
  const others = open(server.url);
  await others.run(statement('a-second', {}, 'SELECT 1 FROM pg_sleep(1.1)', noRow), {});
  expect(await idle.run(ONE, {})).toEqual([1]);
  expect(await unanswered).toBe('given up');
  await Promise.all([asking, idle, others].map((database) => database.close()));
});
