import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { ServerGauges } from '../../src/telemetry/server-gauges.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/** A gauge is at most 5 s old; a busy machine gets more time. */
const PATIENT = { timeout: 20_000, interval: 100 };

const proxies: TcpProxy[] = [];

async function through(address: string): Promise<string> {
  const proxy = await startTcpProxy(address);
  proxies.push(proxy);
  return proxy.through(address);
}

describe('the gauges of the servers', { timeout: 60_000 }, () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      through: async ({ databaseUrl, redisUrl }) => ({
        databaseUrl: await through(databaseUrl),
        redisUrl: await through(redisUrl),
      }),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
  });

  it.concurrent.for([
    ['PostgreSQL', 'gateway_postgresql_up', 0],
    ['Redis', 'gateway_redis_up', 1],
  ] as const)(
    'tell that %s is away, frozen or cut, and that it is back',
    async ([, name, index], { expect }) => {
      const isUp = () => gateway.metric(name);
      const proxy = proxies[index];
      if (proxy === undefined) throw new Error('the gateway went past its proxy');
      await expect.poll(isUp, PATIENT).toBe(1);
      proxy.freeze();
      await expect.poll(isUp, PATIENT).toBe(0);
      await proxy.restore();
      await expect.poll(isUp, PATIENT).toBe(1);
      await proxy.cut();
      await expect.poll(isUp, PATIENT).toBe(0);
      await proxy.restore();
      await expect.poll(isUp, PATIENT).toBe(1);
    },
  );
});

describe('a check of the servers', () => {
  /** Servers that behave as a test says, checked at intervals. */
  function checked() {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const metrics = createMetrics();
    const servers = {
      postgresql: vi.fn(async () => true),
      redis: vi.fn(async () => true),
      waiting: () => 5,
    };
    const gauges = new ServerGauges(metrics, servers, 3_000);
    onTestFinished(() => gauges.close());
    const told = async () => {
      const lines = (await metrics.registry.metrics()).split('\n');
      const samples = lines.filter((line) => /^\w*(?:postgresql|redis)/.test(line));
      return Object.fromEntries(
        samples.map((line) => line.split(' ')).map(([head, value]) => [head, Number(value)]),
      );
    };
    return { servers, gauges, told };
  }

  it('is one at a time, however long it takes, and the last one once it is closed (I7)', async () => {
    const { servers, gauges } = checked();
    await gauges.check();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    servers.postgresql.mockReturnValueOnce(promise);
    await vi.advanceTimersByTimeAsync(12_000);
    expect(servers.postgresql).toHaveBeenCalledTimes(2);
    resolve(true);
    await gauges.check();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(servers.postgresql).toHaveBeenCalledTimes(3);
    gauges.close();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(servers.postgresql).toHaveBeenCalledTimes(3);
  });

  it('takes an error for no', async () => {
    const { servers, gauges, told } = checked();
    await gauges.check();
    expect(await told()).toEqual({
      gateway_postgresql_up: 1,
      gateway_postgresql_waiting: 5,
      gateway_redis_up: 1,
    });
    servers.postgresql.mockRejectedValueOnce(new Error('gone'));
    servers.redis.mockRejectedValueOnce(new Error('gone'));
    await gauges.check();
    expect(await told()).toMatchObject({ gateway_postgresql_up: 0, gateway_redis_up: 0 });
  });
});
