import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { attemptsMade, attemptsOf, sql, untilDeliveries } from './support/deliveries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: { minBackoffMs: 50, maxBackoffMs: 200 },
      deadline: { totalMs: 3_000, reserveMs: 1_000 },
    },
    operators: {
      alpha: { wallet: { breaker: { minRequests: 100_000 } } },
      beta: {
        wallet: { breaker: { minRequests: 100_000 } },
        delivery: { minBackoffMs: 100, maxBackoffMs: 500 },
      },
    },
  });
});
afterAll(() => gateway.close());
afterEach(() => vi.restoreAllMocks());

/** The wallet answers the next attempts of this bet like this in turn, then well. */
function answering(bet: TestBet, operation: 'rollback' | 'update', ...how: Misbehaviour[]): void {
  for (const one of how) {
    bet.wallet.misbehave(operation, one, { transactionId: bet.transactionId, calls: 1 });
  }
}

/** Makes the callback's own attempt end in a promise. */
const FAILED: Misbehaviour = { kind: 'status', status: 500 };

describe('a promised rollback', () => {
  it('is confirmed by 200, whatever its time looks like, and by code 8: no longer retried', async () => {
    const confirmations: Misbehaviour[] = [
      { kind: 'delay', ms: 0 },
      { kind: 'badTransactionTime' },
      { kind: 'code', code: 8 },
    ];
    const bets = await Promise.all(confirmations.map(() => placedBet(gateway)));
    for (const [index, bet] of bets.entries()) {
      answering(bet, 'rollback', FAILED, confirmations[index] ?? FAILED);
      await bet.rollback();
    }
    for (const bet of bets) {
      await untilDeliveries(bet, [{ state: 'delivered', attempts: 2 }]);
      expect(bet.arrivals()).toEqual(['place', 'rollback', 'rollback']);
    }
  });

  const retried: readonly Misbehaviour[] = [
    { kind: 'code', code: 1 },
    { kind: 'code', code: 100 },
    { kind: 'status', status: 500, body: '{"code":8,"message":"done"}' },
    { kind: 'wrongTransactionId' },
    { kind: 'reset' },
    { kind: 'hang' },
  ];

  it('is retried after any other answer, until the wallet confirms (I2, I4)', async () => {
    const bets = await Promise.all(retried.map(() => placedBet(gateway)));
    await Promise.all(
      bets.map(async (bet, index) => {
        answering(bet, 'rollback', FAILED, retried[index] ?? FAILED);
        expect((await bet.rollback()).status).toBe(200);
      }),
    );
    for (const bet of bets) {
      await untilDeliveries(bet, [{ state: 'delivered', attempts: 3 }]);
      expect(bet.arrivals()).toEqual(['place', 'rollback', 'rollback', 'rollback']);
    }
  });
});

describe('a promised update', () => {
  it('ends as refused by 400 with any other code than 1 and 100 (I4)', async () => {
    const codes = [3, 5, 8, 21];
    const bets = await Promise.all(codes.map(() => placedBet(gateway)));
    for (const [index, bet] of bets.entries()) {
      answering(bet, 'update', FAILED, { kind: 'code', code: codes[index] ?? 0 });
      await bet.update('1.5');
    }
    for (const bet of bets) {
      await untilDeliveries(bet, [{ state: 'refused', attempts: 2 }]);
      expect(bet.arrivals()).toEqual(['place', 'update', 'update']);
    }
  });
});

it('a message that cannot be sent at all spends attempts and harms nobody else (I4)', async () => {
  const bet = await placedBet(gateway);
  answering(bet, 'rollback', FAILED);
  await bet.rollback();
  const changed = await sql(
    gateway,
    `UPDATE operations SET body = 'no message'
      WHERE transaction_id = $1 AND operation = 'rollback' RETURNING id`,
    [bet.transactionId],
  );
  expect(changed).toHaveLength(1);
  await expect.poll(() => attemptsMade(bet)).toBeGreaterThanOrEqual(3);
  await untilDeliveries(bet, [{ state: 'pending' }]);
  expect(bet.arrivals()).toEqual(['place', 'rollback']);
  const attempts = await attemptsOf(bet);
  expect(attempts.at(-1)).toMatchObject({ result: 'bad_answer', status: null });
  expect(attempts.at(-1)?.error).toContain('no message');

  const other = await placedBet(gateway);
  answering(other, 'rollback', FAILED);
  await other.rollback();
  await untilDeliveries(other, [{ state: 'delivered' }]);
});
