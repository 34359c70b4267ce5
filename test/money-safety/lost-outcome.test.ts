import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endLeases } from '../deliveries/support/deliveries.ts';
import type { TestBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet, answersOf, requestIdsOf, untilDeliveriesAre } from './support/bets.ts';
import { type HeldGateway, STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENCE, PATIENT } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  const wallet = (dialect: object) => ({
    wallet: { ...PATIENT.wallet, dialect },
  });
  held = await startHeldGateway({
    worker: true,
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 100, confirmUnknownAfterMs: 200 } },
    operators: {
      alpha: wallet({ stableRequestId: true }),
      beta: wallet({ unknownRepeats: 'hold' }),
    },
  });
  ({ gateway, postgres } = held);
});
afterAll(() => held.close());

/** The wallet pays, and PostgreSQL is lost before the outcome is written; only the 503 is sent. */
async function loseOutcome(bet: TestBet, settle: () => Promise<{ status: number }>): Promise<void> {
  const { transactionId } = bet;
  bet.wallet.misbehave('settle', { kind: 'reset', effect: 'applied' }, { transactionId, calls: 1 });
  let next = postgres.holdRequest(STATEMENTS.finish, transactionId);
  const settling = settle();
  let isOver = false;
  while (!isOver) {
    const finish = next;
    isOver = await Promise.race([finish.stopped.then(() => false), settling.then(() => true)]);
    // It is repeated a few times.
    next = postgres.holdRequest(STATEMENTS.finishAgain, transactionId);
    finish.swallow();
  }
  expect((await settling).status).toBe(503);
  await expect
    .poll(() => answersOf(bet), PATIENCE)
    .toMatchObject([{ operation: 'place' }, { operation: 'settle', status: 503 }]);
  await endLeases(gateway, transactionId);
}

describe('a result whose outcome was never written, while its 503 was', { timeout: 60_000 }, () => {
  it('is sent again under its first requestId: a wallet that keys on it pays once (I5)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'alpha' });
    await loseOutcome(bet, () => bet.settle('20'));
    await expect.poll(async () => (await bet.settle('20')).status, PATIENCE).toBe(200);
    expect(requestIdsOf(bet).length).toBeGreaterThan(1);
    expect(new Set(requestIdsOf(bet)).size).toBe(1);
  });

  it('is left to a person where repeats are held (I4)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'beta' });
    await loseOutcome(bet, () => bet.settle('20'));
    await untilDeliveriesAre(bet, [{ state: 'dead', operation: 'settle' }]);
    expect((await bet.settle('20')).status).toBe(503);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
  });
});
