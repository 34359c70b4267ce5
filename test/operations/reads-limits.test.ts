import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { balanceBody, profileBody } from '../../src/protocol/callback-bodies.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { type TestPlayer, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { AT_ONCE_MS } from '../support/timing.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const breaker = { errorPercent: 50, minRequests: 4, windowMs: 60_000, openMs: 400 };
  gateway = await startTestGateway({
    operators: {
      alpha: { wallet: { breaker } },
      beta: { wallet: { maxConcurrent: { read: 3 } } },
    },
  });
});
afterAll(() => gateway.close());

const balanceOf = (player: TestPlayer) =>
  gateway.service.call('POST', '/user/balance', balanceBody(player));
const profileOf = (player: TestPlayer) =>
  gateway.service.call('POST', '/user/profile', profileBody(player.token));
const breaker = (operator: string, callClass: 'money' | 'read') =>
  gateway.metric('gateway_breaker_state', { operator, class: callClass });
const requests = (operatorId: string) => gateway.wallet(operatorId).requests.length;

function expectRefusedAtOnce(answer: CallResult): void {
  expect([answer.status, answer.json?.code]).toEqual([503, 100]);
  expect(answer.ms).toBeLessThan(AT_ONCE_MS);
}

describe('the breaker of an operator’s reads', () => {
  it('opens on faults, refuses reads at once, and lets bets go on (I1, I7)', async () => {
    const player = await gateway.player();
    const behave = gateway.wallet('alpha').misbehave('balance', { kind: 'reset' });
    for (let n = 0; n < 4; n += 1) expect((await balanceOf(player)).status).toBe(503);
    expect([await breaker('alpha', 'read'), await breaker('alpha', 'money')]).toEqual([2, 0]);
    const before = requests('alpha');
    for (const answer of [await balanceOf(player), await profileOf(player)]) {
      expectRefusedAtOnce(answer);
    }
    expect(requests('alpha')).toBe(before);
    expect((await (await unplacedBet(gateway, { player })).place()).status).toBe(200);
    behave();
  });

  it('closes again by itself once the wallet recovers', async () => {
    const player = await gateway.player();
    const state = () => breaker('alpha', 'read');
    await expect.poll(state).toBe(1);
    expect((await profileOf(player)).status).toBe(200);
    expect(await state()).toBe(0);
    expect((await balanceOf(player)).status).toBe(200);
  });

  it('is not opened by a wallet’s refusals, however many', async () => {
    const player = await gateway.player();
    const behave = gateway.wallet('alpha').misbehave('balance', { kind: 'code', code: 4 });
    for (let n = 0; n < 12; n += 1) expect((await balanceOf(player)).json?.code).toBe(4);
    behave();
    expect(await breaker('alpha', 'read')).toBe(0);
  });
});

it('reads that hang fill their own bulkhead: one more is refused at once, bets go on (I7)', async () => {
  const player = await gateway.player({ operatorId: 'beta' });
  const gate = gateway.wallet('beta').hold('balance');
  onTestFinished(gate.release);
  const asking = [balanceOf(player), balanceOf(player), balanceOf(player)];
  await gate.arrivedTimes(3);
  expect(await gateway.metric('gateway_in_flight', { operator: 'beta', class: 'read' })).toBe(3);
  expectRefusedAtOnce(await profileOf(player));
  const rejected = { operator: 'beta', reason: 'bulkhead' };
  expect(await gateway.metric('gateway_rejected_total', rejected)).toBe(1);
  const bet = await unplacedBet(gateway, { operatorId: 'beta', player });
  expect((await bet.place()).status).toBe(200);
  gate.release();
  expect((await Promise.all(asking)).map(({ status }) => status)).toEqual([200, 200, 200]);
});
