import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { createService } from '../../tools/simulator/service.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { freePort, startRedisProcess } from '../redis/support/redis-process.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { onRedis, privateRedis } from '../support/redis.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

const PATIENT = { timeout: 20_000, interval: 100 };

describe('a start without a usable Redis serves on PostgreSQL alone (I4)', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment({
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 300 } },
      operators: { alpha: { wallet: { breaker: { openMs: 200 } } } },
    });
  });
  afterAll(() => deployment.close());

  it.for([
    ['nobody listens', 'redis://:geheim@127.0.0.1:1'],
    ['the name of its host is not known yet', 'redis://redis.invalid:6379'],
    ['nobody listens for a Redis Cluster', 'redis+cluster://127.0.0.1:1'],
    ['nobody listens for a Sentinel', 'redis+sentinel://127.0.0.1:1/mymaster'],
  ] as const)('where %s', { timeout: 60_000 }, async ([, url], context) => {
    const { replica, msgs } = await start(context, url);
    await serves(replica, 'down');
    expect(msgs('start.redis_away')).toEqual([expect.objectContaining({ level: 40 })]);
    expect(replica.process.stderr()).toBe('');
    expect(JSON.stringify(replica.process.lines)).not.toContain('geheim');
  });

  it('where nobody listens, with worker processes', { timeout: 60_000 }, async (context) => {
    const { replica } = await start(context, 'redis://127.0.0.1:1', { WORKERS: '2' });
    await serves(replica, 'down');
  });

  it('where Redis accepts connections and says nothing', { timeout: 60_000 }, async (context) => {
    const url = await fakeRedis(context, () => undefined);
    await serves((await start(context, url)).replica, 'down');
  });

  it('where Redis still loads its data', { timeout: 60_000 }, async (context) => {
    const url = await fakeRedis(context, () => '-LOADING Redis is loading the dataset in memory');
    const { replica, msgs } = await start(context, url);
    await serves(replica, 'down');
    expect(msgs('redis.refuses')).toEqual([]);
  });

  it.for([
    ['a Redis Cluster', 'redis+cluster:', /cluster support disabled/],
    ['Sentinels', 'redis+sentinel:', /unknown command/i],
  ] as const)(
    'where a single Redis is named as %s',
    { timeout: 60_000 },
    async ([, scheme, why], context) => {
      const at = new URL(deployment.redisUrl.replace('redis:', scheme));
      if (scheme === 'redis+sentinel:') {
        at.pathname = '/mymaster';
        at.searchParams.set('sentinelPassword', at.password);
      }
      const { replica, msgs } = await start(context, at.href);
      await serves(replica, 'down');
      const [line] = msgs('redis.refuses');
      expect(line).toMatchObject({ level: 50, error: expect.stringMatching(why) });
    },
  );

  it('joins a Redis that refused its password, once that is mended', {
    timeout: 60_000,
  }, async (context) => {
    const redis = await privateRedis();
    context.onTestFinished(() => redis.stop());
    const right = new URL(redis.url);
    const wrong = new URL(redis.url);
    wrong.password = 'another-geheim';
    const { replica, msgs } = await start(context, wrong.href);
    await serves(replica, 'down');
    expect(msgs('redis.refuses')).toEqual([
      expect.objectContaining({ level: 50, error: expect.stringContaining('WRONGPASS') }),
    ]);
    expect(JSON.stringify(replica.process.lines)).not.toContain('geheim');

    await onRedis(right.href, (client) =>
      client.call('ACL', 'SETUSER', 'default', '>another-geheim'),
    );
    await joins(replica);
  });

  it('joins a Redis that comes later', { timeout: 60_000 }, async (context) => {
    const port = await freePort();
    const { replica } = await start(context, `redis://127.0.0.1:${port}`);
    await serves(replica, 'down');
    const redis = await startRedisProcess([
      `port ${port}`,
      'save ""',
      'maxmemory-policy allkeys-lru',
    ]);
    context.onTestFinished(() => redis.stop());
    await joins(replica);
    await replica.process.waitForLine(({ json }) => json?.msg === 'redis.evicts');
  });

  async function start(
    { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
    url: string,
    more = {},
  ) {
    const replica = await deployment.replica({ REDIS_URL: url, ...more });
    onTestFinished(async () => void (await replica.process.stop()));
    const msgs = (msg: string) =>
      replica.process.lines.flatMap(({ json }) => (json?.msg === msg ? [json] : []));
    return { replica, msgs };
  }

  const readiness = async ({ adminUrl }: Replica) => {
    const answer = await fetch(`${adminUrl}/health/ready`);
    return { http: answer.status, report: await answer.json() };
  };

  const drainsBy = async ({ adminUrl }: Replica, by: string) => {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return Number(new RegExp(`^gateway_drains_total{by="${by}"} (\\d+)$`, 'm').exec(text)?.[1]);
  };

  /** Every operation of a bet, with a rollback that the wallet confirms only at the fourth time. */
  async function serves(replica: Replica, redis: 'up' | 'down'): Promise<void> {
    const status = redis === 'up' ? 'ready' : 'degraded';
    const dependencies = { postgresql: 'up', redis };
    await expect
      .poll(() => readiness(replica), PATIENT)
      .toEqual({ http: 200, report: { status, dependencies } });
    const service = createService({
      baseUrl: replica.baseUrl,
      secret: SERVICE_SECRET,
      retryScale: 0,
    });
    const wallet = deployment.wallet('alpha');
    const player = await deployment.player(replica.baseUrl, { balance: '100' });
    expect((await service.balance(player)).amount).toBe('100');
    const kept = await service.place({ ...player, amount: '10' });
    expect(kept.kind).toBe('accepted');
    const won = await service.settle(kept.transactionId, { amount: '25', resultType: 'won' });
    expect(won).toMatchObject({ kind: 'confirmed', sends: 1 });
    const { transactionId } = await service.place({ ...player, amount: '40' });
    wallet.misbehave('rollback', { kind: 'status', status: 500 }, { transactionId, calls: 3 });
    const rollback = await service.rollback(transactionId);
    expect(rollback).toMatchObject({ kind: 'confirmed', sends: 1 });
    await wallet.waitFor(() => wallet.balance(player.user, 'USD') === '115', PATIENT.timeout);
    await service.close();
  }

  async function joins(replica: Replica): Promise<void> {
    const before = await drainsBy(replica, 'scheduler');
    await serves(replica, 'up');
    await expect.poll(() => drainsBy(replica, 'scheduler'), PATIENT).toBeGreaterThan(before);
  }
});

/** A server that answers each command with this line, or not at all. @returns its address */
async function fakeRedis(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  line: () => string | undefined,
): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      const answer = line();
      const commands = bytes.toString('latin1').split(/^\*\d+\r$/m).length - 1;
      if (answer !== undefined) socket.write(`${answer}\r\n`.repeat(commands));
    });
  });
  const port = await listenOn(server, 0);
  onTestFinished(() => stopListening(server));
  return `redis://127.0.0.1:${port}`;
}
