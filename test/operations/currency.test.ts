import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const EUR = { currency: '"EUR"' };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { delivery: { minBackoffMs: 60_000 } },
    operators: {
      alpha: { wallet: { breaker: { minRequests: 100_000 } } },
      beta: { settle: { onFailure: 'queue' }, wallet: { breaker: { minRequests: 100_000 } } },
    },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const conflicts = () => gateway.metric('gateway_conflicts_total');

/** Refused with code 5 and counted, and no wallet sees it. */
async function expectConflict(bet: TestBet, operate: () => Promise<CallResult>): Promise<void> {
  const [before, arrivals] = [await conflicts(), bet.arrivals()];
  const answer = await operate();
  expect([answer.status, answer.json?.code]).toEqual([400, 5]);
  expect(answer.json?.message).toContain('currency');
  expect(bet.arrivals()).toEqual(arrivals);
  expect(await conflicts()).toBe(before + 1);
}

const settled = (bet: TestBet, more: object) => bet.settle('25', 'won', undefined, { ...more });

describe('a result in another currency than its bet is a conflict (I10)', () => {
  it('settle, resettle and unsettle: refused, counted, never sent', async () => {
    const bet = await placedBet(gateway);
    await expectConflict(bet, () => settled(bet, EUR));
    expect((await settled(bet, {})).status).toBe(200);
    await expectConflict(bet, () => bet.settle('30', 'won', undefined, EUR));
    await expectConflict(bet, () => bet.unsettle(EUR));
    expect((await bet.unsettle()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'unsettle']);
  });

  it('also as a copy of a result that stands, under its requestId or another', async () => {
    const bet = await placedBet(gateway);
    const requestId = '"7f9c0f5e-0000-4000-8000-000000000001"';
    const first = await settled(bet, { requestId });
    expect((await settled(bet, { requestId })).body).toBe(first.body);
    await expectConflict(bet, () => settled(bet, { requestId, ...EUR }));
    await expectConflict(bet, () => settled(bet, EUR));
  });

  it('while the same result in its own currency is in flight', async () => {
    const bet = await placedBet(gateway);
    const gate = bet.wallet.hold('settle', { transactionId: bet.transactionId });
    const first = settled(bet, {});
    await gate.arrived;
    await expectConflict(bet, () => settled(bet, EUR));
    gate.release();
    expect((await first).status).toBe(200);
  });

  it('is never queued, and never replaces a queued result', async () => {
    const bet = await placedBet(gateway, { operatorId: 'beta' });
    bet.wallet.misbehave('settle', { kind: 'status', status: 500 }, { calls: 1 });
    await expectConflict(bet, () => settled(bet, EUR));
    expect(await bet.deliveries()).toEqual([]);
    expect((await settled(bet, {})).status).toBe(200);
    await expectConflict(bet, () => bet.settle('30', 'won', undefined, EUR));
    await expectConflict(bet, () => bet.unsettle(EUR));
    expect(await bet.deliveries()).toMatchObject([{ operation: 'settle', state: 'pending' }]);
  });
});

describe('of a bet whose place is not in the journal, the first currency that is named counts', () => {
  it('while the first result is in flight, for the result that waits behind it', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('settle', { transactionId: bet.transactionId });
    const first = settled(bet, {});
    await gate.arrived;
    await expectConflict(bet, () => bet.unsettle(EUR));
    gate.release();
    await first;
  });

  it('of two that come at once, one currency wins and the other is a conflict', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('any', { transactionId: bet.transactionId });
    const before = await conflicts();
    const results = [settled(bet, {}), bet.unsettle(EUR)];
    await gate.arrived;
    await Promise.race(results);
    gate.release();
    await Promise.all(results);
    expect(bet.arrivals()).toHaveLength(1);
    expect(await conflicts()).toBe(before + 1);
  });

  it('also for its place', async () => {
    const bet = await unplacedBet(gateway);
    await bet.update('1.5', EUR);
    await expectConflict(bet, () => bet.place());
  });
});
