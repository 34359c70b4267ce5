import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { expectNotSent } from '../support/not-sent.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const breaker = { errorPercent: 50, minRequests: 4, windowMs: 60_000 };
  gateway = await startTestGateway({
    operators: {
      alpha: { wallet: { maxConcurrent: { money: 2, read: 1 } } },
      flapping: { wallet: { breaker: { ...breaker, openMs: 400 } } },
      broken: { wallet: { breaker: { ...breaker, openMs: 600_000 } } },
    },
  });
});
afterAll(() => gateway.close());

const rejected = (operator: string, reason: string) =>
  gateway.metric('gateway_rejected_total', { operator, reason });
const breaker = (operator: string, callClass: 'money' | 'read') =>
  gateway.metric('gateway_breaker_state', { operator, class: callClass });
const inFlight = (operator: string, callClass: 'money' | 'read') =>
  gateway.metric('gateway_in_flight', { operator, class: callClass });
async function placeAnother(operatorId: string) {
  return await (await unplacedBet(gateway, { operatorId })).place();
}

/** Resets the connections of places, one after another, until the breaker opens. */
async function failUntilOpen(operatorId: string): Promise<void> {
  const behave = gateway.wallet(operatorId).misbehave('place', { kind: 'reset' });
  while ((await breaker(operatorId, 'money')) !== 2) await placeAnother(operatorId);
  behave();
}

/** @param state 0 closed, 1 half-open, 2 open */
const reaches = (operatorId: string, state: 0 | 1 | 2) =>
  expect.poll(() => breaker(operatorId, 'money')).toBe(state);

describe('the breaker of an operator’s money calls', () => {
  it('opens on faults, and then refuses places at once, unsent (I1)', async () => {
    await failUntilOpen('broken');
    const bet = await unplacedBet(gateway, { operatorId: 'broken' });
    await expectNotSent(bet, await bet.place());
    expect(await rejected('broken', 'breaker')).toBe(1);
  });

  it('closes again by itself once the wallet recovers', async () => {
    await failUntilOpen('flapping');
    await reaches('flapping', 1);
    expect((await placeAnother('flapping')).status).toBe(200);
    expect(await breaker('flapping', 'money')).toBe(0);
  });
});

describe('the bulkhead of an operator’s money calls', () => {
  it('refuses one call too many at once, unsent, and counts it (I1, I7)', async () => {
    const gate = gateway.wallet('alpha').hold('place');
    onTestFinished(gate.release);
    const placing = [placeAnother('alpha'), placeAnother('alpha')];
    await gate.arrivedTimes(2);
    expect(await inFlight('alpha', 'money')).toBe(2);
    const before = await rejected('alpha', 'bulkhead');
    const tooMany = await unplacedBet(gateway);
    await expectNotSent(tooMany, await tooMany.place());
    expect(await rejected('alpha', 'bulkhead')).toBe(before + 1);
    gate.release();
    expect((await Promise.all(placing)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await inFlight('alpha', 'money')).toBe(0);
    expect((await placeAnother('alpha')).status).toBe(200);
  });

  it('holds when all calls come at once: only this many reach the wallet (I7)', async () => {
    const bets = await Promise.all(Array.from({ length: 10 }, () => unplacedBet(gateway)));
    const gate = gateway.wallet('alpha').hold('place');
    onTestFinished(gate.release);
    const refused: (number | undefined)[] = [];
    const placing = bets.map(async (bet) => {
      const answer = await bet.place();
      if (gate.held > 0) refused.push(answer.status);
      return answer;
    });
    await expect.poll(() => refused).toEqual(Array.from({ length: 8 }, () => 400));
    expect(gate.held).toBe(2);
    gate.release();
    const answers = await Promise.all(placing);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(2);
    expect(bets.flatMap((bet) => bet.arrivals())).toEqual(['place', 'place']);
  });
});
