import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PATIENT_MS } from '../support/timing.ts';
import { statementsWithin, untilDeliveries } from './support/deliveries.ts';

const OPEN_MS = 300;

let gateway: TestGateway;
beforeAll(async () => {
  const quickToOpen = { breaker: { minRequests: 3, openMs: OPEN_MS, windowMs: 10_000 } };
  gateway = await startTestGateway({
    worker: true,
    // Far longer than any test: a delivery is delivered only because the breaker closed.
    gateway: { delivery: { minBackoffMs: 100_000, maxBackoffMs: 300_000 } },
    operators: {
      alpha: { wallet: quickToOpen, settle: { onFailure: 'queue' } },
      beta: { wallet: quickToOpen, settle: { onFailure: 'queue' } },
      gamma: { wallet: quickToOpen },
      delta: { wallet: { maxConcurrent: { money: 1 } } },
    },
  });
});
afterAll(() => gateway.close());

const breakerOf = (operatorId: string) =>
  gateway.parts.wallets.get(operatorId)?.breakerState('money');
const untilBreaker = (operatorId: string, state: string) =>
  vi.waitFor(() => expect(breakerOf(operatorId)).toBe(state), { timeout: PATIENT_MS, interval: 5 });

async function placedBets(operatorId: string, count: number): Promise<readonly TestBet[]> {
  const player = await gateway.player({ operatorId });
  return await Promise.all(
    Array.from({ length: count }, () => placedBet(gateway, { operatorId, player, amount: '1' })),
  );
}

describe('when the breaker closes', () => {
  it('everything is delivered, and not only at the end of its back-off (I4)', async () => {
    const bets = await placedBets('alpha', 20);
    const behave = gateway.wallet('alpha').misbehave('any', { kind: 'status', status: 500 });
    await Promise.all(bets.map((bet) => bet.rollback()));
    expect(breakerOf('alpha')).not.toBe('closed');
    behave();
    for (const bet of bets) await untilDeliveries(bet, [{ state: 'delivered' }]);
  });
});

/** Makes calls that fail and promise nothing, until the breaker opens. */
async function openBreaker(operatorId: string): Promise<void> {
  const player = await gateway.player({ operatorId });
  while (breakerOf(operatorId) === 'closed') {
    const bet = await unplacedBet(gateway, { operatorId, player, amount: '1' });
    expect((await bet.place()).json?.code).toBe(100);
  }
}

describe('a half-open breaker', () => {
  it('tries a delivery that may be sent, not one that waits behind another (I6)', async () => {
    const bet = await placedBet(gateway, { operatorId: 'beta' });
    const behave = bet.wallet.misbehave('any', { kind: 'status', status: 500 });
    // A settle in back-off that was attempted, and behind it a rollback that is due at once.
    expect((await bet.settle('10')).status).toBe(200);
    expect((await bet.rollback()).status).toBe(200);
    await openBreaker('beta');
    behave();
    await untilBreaker('beta', 'closed');
    await untilDeliveries(bet, [{ state: 'delivered' }, { state: 'delivered' }]);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'settle', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });
});

it('a full bulkhead is waited for, without asking PostgreSQL all the time (I7)', async () => {
  const busy = await placedBet(gateway, { operatorId: 'delta' });
  const bet = await placedBet(gateway, { operatorId: 'delta' });
  const gate = busy.wallet.hold('settle');
  const settled = busy.settle('10');
  await gate.arrived;
  expect((await bet.rollback()).status).toBe(200);
  expect(await statementsWithin(gateway, 'delivery-look', 2)).toBeLessThan(20);
  await untilDeliveries(bet, [{ state: 'pending' }]);
  gate.release();
  expect((await settled).status).toBe(200);
  await untilDeliveries(bet, [{ state: 'delivered', attempts: 1 }]);
});
