import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/** A gauge is at most 5 s old; a busy machine gets more. */
const PATIENT = { timeout: 20_000, interval: 100 };

const proxies: TcpProxy[] = [];

async function through(address: string): Promise<string> {
  const url = new URL(address);
  const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
  proxies.push(proxy);
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return url.href;
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

  it('tell what Redis does when its memory is full', async () => {
    const noeviction = { policy: 'noeviction' };
    const told = () => gateway.metric('gateway_redis_eviction_policy', noeviction);
    await expect.poll(told, PATIENT).toBe(1);
  });

  it('tell how the pool is used', async () => {
    const max = await gateway.metric('gateway_postgresql_connections_max');
    expect(max).toBeGreaterThan(0);
    const open = () => gateway.metric('gateway_postgresql_connections');
    await expect.poll(open, PATIENT).toBeGreaterThan(0);
    expect(await open()).toBeLessThanOrEqual(max);
    expect(await gateway.metric('gateway_postgresql_waiting')).toBe(0);
  });
});
