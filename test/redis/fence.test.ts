import { afterAll, beforeAll, expect, it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

let proxy: TcpProxy;
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    through: async ({ databaseUrl, redisUrl }) => {
      const url = new URL(redisUrl);
      proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
      url.hostname = '127.0.0.1';
      url.port = String(proxy.port);
      return { databaseUrl, redisUrl: url.href };
    },
  });
});
afterAll(async () => {
  await gateway.close();
  await proxy.close();
});

it('fences a bet although Redis did not hear of its rollback, and is back afterwards (I6)', async () => {
  const bet = await placedBet(gateway);
  // Its answer is in Redis now: a copy is answered from there.
  await expect
    .poll(() => gateway.parts.accelerator.get(`place:${bet.transactionId}`))
    .toBeDefined();
  await proxy.cut();
  expect((await bet.rollback()).status).toBe(200);
  await proxy.restore();
  await expect
    .poll(() => gateway.parts.accelerator.set('probe', '1', 1_000), { timeout: 10_000 })
    .toBe(true);
  const late = await bet.place();
  expect([late.status, late.json?.code]).toEqual([400, 8]);
});
