import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { attemptsOf, untilDeliveries } from './support/deliveries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: { minBackoffMs: 50, maxBackoffMs: 100 },
      deadline: { totalMs: 2_000, reserveMs: 300 },
    },
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
  });
});
afterAll(() => gateway.close());

describe('a delivery on record', () => {
  it('shows its operation, operator and bet, what was tried, and how it ended (I4)', async () => {
    const bet = await placedBet(gateway);
    const about = { transactionId: bet.transactionId, calls: 1 };
    bet.wallet.misbehave('rollback', { kind: 'status', status: 503, body: 'out of order' }, about);
    bet.wallet.misbehave('rollback', { kind: 'code', code: 5, message: 'no such bet' }, about);
    bet.wallet.misbehave('rollback', { kind: 'hang' }, about);
    const answer = await bet.rollback();

    const [delivery] = await untilDeliveries(bet, [{ state: 'delivered' }]);
    expect(delivery).toMatchObject({
      operation: 'rollback',
      operator_id: 'alpha',
      purpose: 'promise',
      attempts: 4,
      transaction_time: answer.json?.transactionTime,
    });
    const { created_at, settled_at } = delivery ?? {};
    expect(settled_at?.getTime()).toBeGreaterThan(created_at?.getTime() ?? Number.NaN);

    const attempts = await attemptsOf(bet);
    expect(attempts).toMatchObject([
      { number: 1, result: 'http_error', status: 503, code: null, answer_status: 200 },
      { number: 2, result: 'declined', status: 400, code: 5, answer_status: null },
      { number: 3, result: 'timeout', status: null, code: null, answer_status: null },
      { number: 4, result: 'accepted', status: 200, code: null, error: null },
    ]);
    expect(attempts[0]?.error).toContain('503');
    expect(attempts[2]?.latency_ms).toBeGreaterThan(500);
    const times = attempts.map(({ started_at }) => started_at.getTime());
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it('says why it still waits, and until when', async () => {
    const bet = await placedBet(gateway);
    const about = { transactionId: bet.transactionId };
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, about);
    await bet.rollback();
    const [delivery] = await untilDeliveries(bet, [{ state: 'pending', attempts: 3 }]);
    expect(delivery?.last_error).toContain('500');
    expect(delivery?.settled_at).toBeNull();
    const horizonMs = (delivery?.dead_at.getTime() ?? 0) - (delivery?.created_at.getTime() ?? 0);
    expect(Math.round(horizonMs / 3_600_000)).toBe(72);
    bet.wallet.behave();
    await untilDeliveries(bet, [{ state: 'delivered' }]);
  });

  it('is counted by the result of its attempts and by how long it took', async () => {
    const bet = await placedBet(gateway);
    const attempts = (result: string) =>
      gateway.metric('gateway_delivery_attempts_total', {
        operator: 'alpha',
        operation: 'rollback',
        result,
      });
    const lags = async () => {
      const { values } = await gateway.metrics.deliveryLag.get();
      return values.find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0;
    };
    const before = [await attempts('bad_answer'), await attempts('accepted'), await lags()];
    const about = { transactionId: bet.transactionId, calls: 2 };
    bet.wallet.misbehave('rollback', { kind: 'html' }, about);
    await bet.rollback();
    await untilDeliveries(bet, [{ state: 'delivered' }]);
    // The first of the two was the callback's own attempt, not the delivery's.
    const after = [await attempts('bad_answer'), await attempts('accepted'), await lags()];
    expect(after).toEqual(before.map((count) => count + 1));
  });
});
