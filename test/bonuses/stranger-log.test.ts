import Fastify from 'fastify';
import { expect, it, vi } from 'vitest';
import { bonusRoutes } from '../../src/bonuses/routes.ts';
import { StrangerLog } from '../../src/lib/stranger-log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { partly } from '../support/partly.ts';
import { TestClock } from '../support/test-clock.ts';

it('a flood of requests that nobody has signed is counted and hardly logged (I11)', async () => {
  const clock = new TestClock();
  const metrics = createMetrics();
  const info = vi.fn();
  const app = Fastify();
  app.decorateRequest('arrivedAtMs', 0);
  bonusRoutes(
    app,
    partly<Parameters<typeof bonusRoutes>[1]>({
      ...{ metrics, strangers: new StrangerLog(clock) },
      bonuses: { clock, logger: { info } },
      gate: { admit: async () => ({ status: 401, body: '{}' }), callerOf: () => 'unknown' },
    }),
  );
  const flood = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      const answer = await app.inject({ method: 'POST', url: '/bonuses/templates' });
      expect(answer.statusCode).toBe(401);
    }
  };
  await flood(200);
  expect(info).toHaveBeenCalledTimes(10);
  clock.atMs += 1_000;
  await flood(1);
  expect(info.mock.lastCall?.[0]).toMatchObject({ operator: 'unknown', leftOut: 190 });
  const { values } = await metrics.bonusRequests.get();
  const labels = { operator: 'unknown', method: 'templates', outcome: 'unauthorized' };
  expect(values).toMatchObject([{ labels, value: 201 }]);
  await app.close();
});
