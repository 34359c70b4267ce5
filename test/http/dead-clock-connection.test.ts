import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

/**
 * How long a load balancer has to probe before it stops sending requests here (`failureThreshold` of the chart).
 */
const PROBED_MS = 3_000;

it('is ready while one connection alone is dead, that of the clock, which is known for 30 s: bets go on', async () => {
  let proxy: TcpProxy | undefined;
  const gateway = await startTestGateway({
    through: async ({ databaseUrl, redisUrl }) => {
      proxy = await startTcpProxy(databaseUrl);
      return { databaseUrl: proxy.through(databaseUrl), redisUrl };
    },
  });
  onTestFinished(async () => {
    await gateway.close();
    await proxy?.close();
  });
  const { app, readiness } = gateway.parts.adminServer();
  onTestFinished(() => app.close());
  readiness.started();
  await placedBet(gateway);

  // The whole text of the statement ends so; it has no values, and therefore no name.
  const dead = proxy?.holdRequest('AS now_ms\0');
  await dead?.stopped;
  for (const endsAt = Date.now() + PROBED_MS; Date.now() < endsAt; await sleep(250)) {
    expect(await readiness.report()).toMatchObject({
      status: 'ready',
      dependencies: { postgresql: 'up' },
    });
  }
  await placedBet(gateway);
  dead?.swallow();
});
