import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { Database } from '../../src/store/database.ts';
import { createPrisma } from '../../src/store/schema/prisma.ts';
import { noRow, statement } from '../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { letNobodyIn } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { AT_ONCE_MS } from '../support/timing.ts';

const ONE = statement('one', {}, 'SELECT 1 AS one', (row) => row.int('one'));
const SLOWLY = statement('slowly', {}, 'SELECT 1 FROM pg_sleep(0.2)', noRow);
const PID_AFTER = statement(
  'pid-after',
  { seconds: ['float8', (seconds: number) => seconds] },
  'SELECT pg_backend_pid()::text AS pid FROM pg_sleep(:seconds)',
  (row) => row.text('pid'),
);
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

it('probes connections once a statement has long had no answer, and uses no dead one', async (context) => {
  const proxy = await startTcpProxy(server.url);
  context.onTestFinished(() => proxy.close());
  const database = new Database({
    ...{ url: proxy.through(server.url), connectionsMax: 4, onIdleError: () => undefined },
  });
  await Promise.all([1, 2, 3].map(() => database.run(SLOWLY, {})));
  proxy.strand();
  const unanswered = database.run(ONE, {}).catch(() => 'given up');
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const beganAtMs = performance.now();
  expect(await database.run(ONE, {})).toEqual([1]);
  expect(performance.now() - beganAtMs).toBeLessThan(AT_ONCE_MS);
  expect(await unanswered).toBe('given up');
  await database.close();
});

it('keeps its connections where the server is only slow: there might be no place for others', async () => {
  const database = new Database({
    ...{ url: server.url, connectionsMax: 3, onIdleError: () => undefined },
  });
  const idle = await Promise.all([0.1, 0.1].map((seconds) => database.run(PID_AFTER, seconds)));
  const slow = database.run(PID_AFTER, 1.5);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const used = await Promise.all([database.run(PID_AFTER, 0), slow]);
  expect(used.flat().sort()).toEqual(idle.flat().sort());
  await database.close();
});

it('keeps the connection of a statement that PostgreSQL refuses: it might get no other one', async () => {
  const database = open(server.url);
  const [pid] = await database.run(PID_AFTER, 0);
  await expect(
    database.run(statement('bug-2', {}, 'SELECT 1/0 AS one', noRow), {}),
  ).rejects.toThrow();
  expect(await database.run(PID_AFTER, 0)).toEqual([pid]);
  await database.close();
});
