import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import { createPrisma, inTransaction, type Prisma } from '../../../src/store/schema/prisma.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';

let database: TestDatabase;
let proxy: TcpProxy;
let proxied: string;
let prisma: Prisma;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await startTcpProxy(database.url);
  proxied = proxy.through(database.url);
  prisma = createPrisma(proxied);
});

afterAll(async () => {
  await prisma.$disconnect();
  await proxy.close();
  await database.drop();
});

it('compiles what it needs for the first query beside everything else: callbacks do not wait for it (I2)', async () => {
  const script = resolve(import.meta.dirname, 'support/first-query.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, database.url]);
  expect(stdout).toBe('0 bets');
});

it('says DATABASE_UNAVAILABLE when the server is gone, and works again when it is back', async () => {
  expect(await prisma.bet.count()).toBe(0);
  await proxy.cut();
  const lost = { name: 'GatewayError', code: 'DATABASE_UNAVAILABLE' };
  await expect(prisma.bet.count()).rejects.toMatchObject(lost);
  await expect(prisma.$executeRaw`SELECT 1`).rejects.toMatchObject(lost);
  await proxy.restore();
  expect(await prisma.bet.count()).toBe(0);
});

it('says so too where the server is away at the very first, and asks it again', async () => {
  const late = createPrisma(proxied);
  onTestFinished(() => late.$disconnect());
  await proxy.cut();
  const lost = { name: 'GatewayError', code: 'DATABASE_UNAVAILABLE' };
  await expect(late.bet.count()).rejects.toMatchObject(lost);
  await expect(inTransaction(late, () => Promise.resolve(1))).rejects.toMatchObject(lost);
  await proxy.restore();
  expect(await late.bet.count()).toBe(0);
});

it('says so as well when the server ends the connection', async () => {
  const asked = prisma.$queryRaw`SELECT pg_terminate_backend(pg_backend_pid())`;
  await expect(asked).rejects.toBeInstanceOf(GatewayError);
});

it('calls a wrong statement a bug, not an outage', async () => {
  await expect(prisma.$queryRaw`SELECT nonsense`).rejects.not.toBeInstanceOf(GatewayError);
  const duplicate = { operatorId: 'alpha', class: 'read', state: 'open' };
  await prisma.breakerOverride.create({ data: duplicate });
  const again = prisma.breakerOverride.create({ data: duplicate });
  await expect(again).rejects.not.toBeInstanceOf(GatewayError);
});

describe('a transaction says DATABASE_UNAVAILABLE', () => {
  const lost = { name: 'GatewayError', code: 'DATABASE_UNAVAILABLE' };

  afterEach(() => proxy.restore());

  it('when the server is gone at its beginning', async () => {
    await proxy.cut();
    const asked = inTransaction(prisma, () => Promise.resolve(1));
    await expect(asked).rejects.toMatchObject(lost);
  });

  it('when the server goes before its end', async () => {
    const asked = inTransaction(prisma, async (transaction) => {
      await transaction.$queryRaw`SELECT 1`;
      await proxy.cut();
    });
    await expect(asked).rejects.toMatchObject(lost);
    await proxy.restore();
    expect(await inTransaction(prisma, (transaction) => transaction.bet.count())).toBe(0);
  });

  it('when others keep all connections for longer than it waits', async () => {
    const gate = Promise.withResolvers<void>();
    const others = [1, 2].map(() => inTransaction(prisma, () => gate.promise));
    await expect(inTransaction(prisma, () => Promise.resolve(1))).rejects.toMatchObject(lost);
    gate.resolve();
    await Promise.all(others);
  });

  it('and leaves alone what went wrong in it', async () => {
    const wrong = new Error('a bug');
    await expect(inTransaction(prisma, () => Promise.reject(wrong))).rejects.toBe(wrong);
  });
});
