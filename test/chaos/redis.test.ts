import { Redis } from 'ioredis';
import { describe, it, type TestContext } from 'vitest';
import { noRow, statement } from '../../src/store/sql/statement.ts';
import type { EmbeddedServer } from '../../tools/embedded/server.ts';
import { compareBooks } from '../../tools/simulator/books.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import { startTestGateway } from '../support/gateway.ts';
import { privateRedis } from '../support/redis.ts';
import { booksAgree } from './support/books.ts';

const CONFIRMED_MS = 20_000;

/** Each case breaks a Redis of its own, so that all of them wait for their deliveries concurrently. */
describe.concurrent('without a working Redis', { timeout: 60_000 }, () => {
  it('confirms deliveries although Redis was flushed in between (I4)', async (context) => {
    const { redis, journey } = await openDeployment(context);
    const earlier = await journey();
    await commandTo(redis, (client) => client.flushall());
    await earlier();
    await (await journey())();
  });

  it('works on while Redis is dead, and after it came back empty (I3, I4)', async (context) => {
    const { redis, journey } = await openDeployment(context);
    const earlier = await journey();
    await redis.kill();
    await earlier();
    const during = await journey();
    await during();
    const across = await journey();
    await redis.restart();
    await across();
    await (await journey())();
  });

  it('works on while Redis is frozen, and after it thawed (I1, I4)', async (context) => {
    const { redis, journey } = await openDeployment(context);
    const earlier = await journey();
    await redis.kill('SIGSTOP');
    await earlier();
    const during = await journey();
    await during();
    const across = await journey();
    await redis.kill('SIGCONT');
    await across();
    await (await journey())();
  });

  it('works on while Redis is out of memory (I4)', async (context) => {
    const { redis, journey } = await openDeployment(context);
    const earlier = await journey();
    await commandTo(redis, (client) => client.config('SET', 'maxmemory', '1'));
    await earlier();
    await (await journey())();
    await commandTo(redis, (client) => client.config('SET', 'maxmemory', '0'));
    await (await journey())();
  });
});

/** A gateway with its own Redis; at the end of the case its books must agree. */
async function openDeployment({ expect, onTestFinished }: TestContext) {
  const redis = await privateRedis();
  const gateway = await startTestGateway({
    worker: true,
    through: async ({ databaseUrl }) => ({ databaseUrl, redisUrl: redis.url }),
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 300 } },
    operators: { alpha: { wallet: { breaker: { openMs: 200 } } } },
  });
  const bookkeeper = gateway.parts.bookkeeper();
  bookkeeper.start();
  onTestFinished(async () => {
    const wallets = [gateway.wallet('alpha')];
    const books = wallets.map((wallet) => wallet.books());
    const { differences } = compareBooks(gateway.service.books(), books);
    const { databaseUrl } = gateway;
    const query = (text: string) => sql(gateway, text);
    try {
      expect(differences).toEqual([]);
      await booksAgree({ databaseUrl, wallets, query });
    } finally {
      await bookkeeper.close();
      await gateway.close();
      await redis.stop();
    }
  });

  /** Every operation of a bet, with a promise that the wallet delays. @returns resolves when it is confirmed */
  async function journey(): Promise<() => Promise<void>> {
    const { service } = gateway;
    const wallet = gateway.wallet('alpha');
    const player = await gateway.player({ balance: '100' });
    const kept = await service.place({ ...player, amount: '10' });
    expect(kept.kind).toBe('accepted');
    const won = await service.settle(kept.transactionId, { amount: '25', resultType: 'won' });
    expect(won).toMatchObject({ kind: 'confirmed', sends: 1 });
    const given = await service.place({ ...player, amount: '40' });
    const { transactionId } = given;
    wallet.misbehave('rollback', { kind: 'status', status: 500 }, { transactionId, calls: 3 });
    const rollback = await service.rollback(transactionId);
    expect(rollback).toMatchObject({ kind: 'confirmed', sends: 1 });
    return async () => {
      await wallet.waitFor(() => wallet.balance(player.user, 'USD') === '115', CONFIRMED_MS);
      const { rows } = await open();
      expect(rows).toBe(0);
      expect((await service.place({ ...player, amount: '1' })).kind).toBe('accepted');
    };
  }

  /** Unconfirmed deliveries, after the last one has been recorded. */
  async function open(): Promise<{ rows: number }> {
    const count = async () => (await gateway.parts.database.run(OPEN, {})).length;
    await expect.poll(count, { timeout: CONFIRMED_MS }).toBe(0);
    return { rows: await count() };
  }

  return { redis, journey };
}

const OPEN = statement(
  'test-open',
  {},
  `SELECT id FROM deliveries WHERE state IN ('live', 'pending')`,
  noRow,
);

async function commandTo(server: EmbeddedServer, command: (client: Redis) => Promise<unknown>) {
  const client = new Redis(server.url);
  try {
    await command(client);
  } finally {
    client.disconnect();
  }
}
