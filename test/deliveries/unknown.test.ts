import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { PATIENT_MS } from '../support/timing.ts';
import { endLeases, sql, untilDeliveries } from './support/deliveries.ts';

/** The time from the first confirmation to the first repeat; the second repeat comes after ten times that. */
const CONFIRM_MS = 200;
const ORIGINATE_MS = 1_000;

const GAMMA = { operatorId: 'gamma' };

let gateway: TestGateway;
beforeAll(async () => {
  const wallet = { breaker: { minRequests: 100_000 } };
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: {
        minBackoffMs: 50,
        maxBackoffMs: 100,
        confirmUnknownAfterMs: CONFIRM_MS,
        originateRollbackAfterMs: ORIGINATE_MS,
      },
      deadline: { totalMs: 3_000, reserveMs: 300 },
    },
    operators: {
      alpha: { wallet },
      beta: { wallet, delivery: { originateRollbackAfterMs: 600_000 } },
      gamma: { wallet },
    },
  });
});
afterAll(() => gateway.close());

/** A bet whose place the wallet never answered. */
async function unknownBet(operatorId = 'alpha'): Promise<TestBet> {
  const bet = await unplacedBet(gateway, { operatorId });
  bet.wallet.misbehave('place', { kind: 'reset' }, { transactionId: bet.transactionId });
  expect((await bet.place()).json?.code).toBe(100);
  return bet;
}

const rollbacksOf = (bet: TestBet) => bet.wallet.arrivals(bet.transactionId, 'rollback');

/** The wallet has confirmed it three times, at the right times. */
function expectThreeConfirmations(bet: TestBet): void {
  const [first, second, third, ...more] = rollbacksOf(bet).map(({ atMs }) => atMs);
  expect(more).toEqual([]);
  const waits = [(second ?? 0) - (first ?? 0), (third ?? 0) - (second ?? 0)];
  expect(waits[0]).toBeGreaterThanOrEqual(CONFIRM_MS - 5);
  expect((third ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(10 * CONFIRM_MS - 5);
  // Plus the time until a sweep finds it due.
}

describe.concurrent('the rollback of a place that was never answered', () => {
  it('is confirmed three times, so that a late debit is refunded (I5)', async ({ expect }) => {
    const bet = await unknownBet();
    const answer = await bet.rollback();
    expect(answer.status).toBe(200);
    expect((await bet.rollback()).body).toBe(answer.body);
    await bet.wallet.waitFor(() => rollbacksOf(bet).length === 3);
    await untilDeliveries(bet, [{ purpose: 'confirm', state: 'delivered' }]);
    expectThreeConfirmations(bet);
    expect((await bet.rollback()).body).toBe(answer.body);
    // The service sent its own: the gateway adds none, however long it waits.
    const { operations } = (await betState(gateway.databaseUrl, bet.transactionId)) ?? {};
    expect(operations).toEqual(['place', 'rollback']);
  });
});

describe.concurrent('a place whose rollback the service never sends', () => {
  it('is rolled back by the gateway: errorCode 10, and confirmed three times (I5)', async ({
    expect,
  }) => {
    const bet = await unknownBet();
    await bet.wallet.waitFor(() => rollbacksOf(bet).length === 3);
    await untilDeliveries(bet, [
      { operation: 'rollback', purpose: 'promise', state: 'delivered' },
      { operation: 'rollback', purpose: 'confirm', state: 'delivered' },
    ]);
    expectThreeConfirmations(bet);
    const sent: Record<string, unknown> = JSON.parse(bet.lastRequest().body.toString());
    expect(sent).toMatchObject({
      type: 3,
      errorCode: 10,
      transactionId: bet.transactionId,
      userId: bet.player.user,
      token: bet.player.operatorToken,
      amount: 100,
      currency: 'USD',
    });
    for (const member of ['ip', 'info', 'subPartnerId', 'metadata', 'bonusAmount']) {
      expect(sent).not.toHaveProperty(member);
    }
    // It is not shown as the service's operation, because the service was answered nothing.
    const story = await gateway.operator('alpha').bet(bet.transactionId);
    expect(story.json?.operations).toMatchObject([
      { operation: 'place', askedBy: 'service', answer: { status: 400 } },
      { operation: 'rollback', askedBy: 'gateway', answer: null },
    ]);
    expect((await bet.rollback()).status).toBe(200);
    expect((await bet.place()).json?.code).toBe(8);
    expect(rollbacksOf(bet)).toHaveLength(3);
  });

  it('is rolled back even if its process was killed in the middle of it (I3, I5)', async ({
    expect,
  }) => {
    const bet = await placedBet(gateway, { operatorId: 'gamma' });
    const unknown = { operator: 'gamma', operation: 'place' };
    const before = await gateway.metric('gateway_unknown_outcomes_total', unknown);
    await bet.leaveBusy('place');
    await endLeases(gateway, bet.transactionId);
    await bet.wallet.waitFor(() => rollbacksOf(bet).length > 0);
    await expect
      .poll(() => betState(gateway.databaseUrl, bet.transactionId))
      .toMatchObject({ rollback: 'confirmed' });
    expect(bet.balance()).toBe('1000');
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
      place: 'unknown',
      rollback: 'confirmed',
      busy: null,
    });
    expect(await gateway.metric('gateway_unknown_outcomes_total', unknown)).toBe(before + 1);
  });
});

describe('a result of unknown outcome', () => {
  it('shows, if nobody repeats it for an hour, until the wallet confirms a result', async () => {
    const shown = () => gateway.metric('gateway_unknown_results', { operator: 'gamma' });
    const until = (count: number) =>
      vi.waitFor(async () => expect(await shown()).toBe(count), {
        timeout: PATIENT_MS,
        interval: 50,
      });
    const [lost, young] = [await placedBet(gateway, GAMMA), await placedBet(gateway, GAMMA)];
    for (const { wallet, transactionId } of [lost, young]) {
      wallet.misbehave('settle', { kind: 'reset' }, { transactionId, calls: 1 });
    }
    expect((await lost.settle('10')).status).toBe(503);
    expect((await young.settle('10')).status).toBe(503);
    // For the service the result is over; the wallet may have paid the lost one.
    const refusal = { kind: 'code', code: 20 } as const;
    lost.wallet.misbehave('settle', refusal, { transactionId: lost.transactionId, calls: 1 });
    expect((await lost.settle('10')).status).toBe(400);
    await sql(
      gateway,
      `UPDATE bets SET late_at = late_at - interval '1 hour' WHERE transaction_id = $1`,
      [lost.transactionId],
    );
    await until(1);
    expect((await lost.settle('20')).status).toBe(200);
    await until(0);
  });
});

describe.concurrent('a result that a different one of unknown outcome went before', () => {
  /** The wallet lost a settle of 10, and confirmed one of 20. */
  async function doubtfulBet(): Promise<TestBet> {
    const bet = await placedBet(gateway);
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId, calls: 1 });
    expect((await bet.settle('10')).status).toBe(503);
    expect((await bet.settle('20')).status).toBe(200);
    return bet;
  }
  const settlesOf = (bet: TestBet) =>
    bet.wallet.arrivals(bet.transactionId, 'settle').map(({ amount }) => amount);

  it('is sent again, because the lost one may have taken effect late (I5)', async ({ expect }) => {
    const bet = await doubtfulBet();
    await untilDeliveries(bet, [{ operation: 'settle', purpose: 'confirm', state: 'delivered' }]);
    expect(settlesOf(bet).slice(0, 3)).toEqual(['10', '20', '20']);
    expect(bet.balance()).toBe('920');
    const [first, second] = bet.wallet.arrivals(bet.transactionId, 'settle').slice(1);
    expect((second?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThanOrEqual(CONFIRM_MS - 5);
  });

  it('is replaced by what stands then: the unsettle that came after it (I5)', async ({
    expect,
  }) => {
    const bet = await doubtfulBet();
    expect((await bet.unsettle()).status).toBe(200);
    await untilDeliveries(bet, [{ operation: 'unsettle', purpose: 'confirm', state: 'delivered' }]);
    expect(bet.arrivals().slice(0, 5)).toEqual([
      'place',
      'settle',
      'settle',
      'unsettle',
      'unsettle',
    ]);
    expect(bet.balance()).toBe('900');
  });
});
