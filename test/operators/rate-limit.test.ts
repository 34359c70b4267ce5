import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Clock } from '../../src/domain/clock.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** What one operator may ask of one process: 100 requests a second, 1000 at once. */

let standsAtMs: number | undefined;
/** Can be made to stand still, so that no request is gained while the test asks. */
const clock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => standsAtMs ?? performance.now(),
};
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ clock, operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

it('refuses one operator’s flood by 429/10 with Retry-After, and no other’s requests (I7)', async () => {
  const [alpha, beta] = [gateway.operator('alpha'), gateway.operator('beta')];
  standsAtMs = Math.floor(performance.now());
  const ask = (index: number) =>
    index % 2 === 0 ? alpha.bet('x') : alpha.revokeSessions({ operatorUser: 'nobody' });

  const allowed = await Promise.all(Array.from({ length: 1_000 }, (_, index) => ask(index)));
  expect(new Set(allowed.map(({ status }) => status))).toEqual(new Set([404, 200]));

  const refused = await ask(0);
  expect([refused.status, refused.json?.code]).toEqual([429, 10]);
  expect(refused.headers['retry-after']).toBe('1');
  const labels = { operator: 'alpha', reason: 'rate' };
  expect(await gateway.metric('gateway_rejected_total', labels)).toBe(1);
  expect((await beta.bet('x')).status).toBe(404);

  // An unsigned flood in alpha's name spends nothing of beta's or of alpha's.
  const forged = await beta.call('/operator/bets', { cid: 'alpha-key' });
  expect(forged.status).toBe(401);

  standsAtMs += 1_000;
  const after = await Promise.all(Array.from({ length: 101 }, (_, index) => ask(index)));
  expect(after.filter(({ status }) => status === 429)).toHaveLength(1);
  standsAtMs = undefined;
  await Promise.all([alpha.close(), beta.close()]);
});
