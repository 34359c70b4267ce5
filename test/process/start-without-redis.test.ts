import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createService } from '../../tools/simulator/service.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { freePort, startRedisProcess } from '../redis/support/redis-process.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

const PATIENT = { timeout: 20_000, interval: 100 };

describe('a start without a usable Redis serves on PostgreSQL alone (I4)', {
  timeout: 60_000,
}, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment({
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 300 } },
      operators: { alpha: { wallet: { breaker: { openMs: 200 } } } },
    });
  });
  afterAll(() => deployment.close());

  it('where nobody listens, with worker processes, and joins the Redis that comes later', async () => {
    const port = await freePort();
    const REDIS_URL = `redis://:geheim@127.0.0.1:${port}`;
    const replica = await deployment.replica({ REDIS_URL, WORKERS: '2' });
    await serves(replica, 'down');
    expect(replica.process.lines).toContainEqual(
      expect.objectContaining({
        json: expect.objectContaining({ msg: 'start.redis_away', level: 40 }),
      }),
    );
    expect(JSON.stringify(replica.process.lines)).not.toContain('geheim');

    const before = await drainsByScheduler(replica);
    const redis = await startRedisProcess([
      `port ${port}`,
      'requirepass geheim',
      'save ""',
      'maxmemory-policy allkeys-lru',
    ]);
    onTestFinished(() => redis.stop());
    await serves(replica, 'up');
    await expect.poll(() => drainsByScheduler(replica), PATIENT).toBeGreaterThan(before);
    await replica.process.waitForLine(({ json }) => json?.msg === 'redis.evicts');
    await replica.process.stop();
  });

  it('where Redis accepts connections and says nothing', async () => {
    const silent = createServer((socket) => void socket.on('error', () => undefined).resume());
    const port = await listenOn(silent, 0);
    onTestFinished(() => stopListening(silent));
    const replica = await deployment.replica({ REDIS_URL: `redis://127.0.0.1:${port}` });
    await serves(replica, 'down');
    await replica.process.stop();
  });

  async function drainsByScheduler({ adminUrl }: Replica) {
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return Number(/^gateway_drains_total\{by="scheduler"\} (\d+)$/m.exec(text)?.[1]);
  }

  /** Every operation of a bet, with a rollback that the wallet confirms only at the fourth time. */
  async function serves({ adminUrl, baseUrl }: Replica, redis: 'up' | 'down'): Promise<void> {
    const readiness = async () => {
      const answer = await fetch(`${adminUrl}/health/ready`);
      return [answer.status, await answer.json()];
    };
    const status = redis === 'up' ? 'ready' : 'degraded';
    const dependencies = { postgresql: 'up', redis };
    await expect.poll(readiness, PATIENT).toEqual([200, { status, dependencies }]);
    const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
    const wallet = deployment.wallet('alpha');
    const player = await deployment.player(baseUrl, { balance: '100' });
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
});
