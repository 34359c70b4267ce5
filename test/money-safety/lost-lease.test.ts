import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptsOf, endLeases } from '../deliveries/support/deliveries.ts';
import type { TestBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet, requestIdsOf, untilDeliveriesAre } from './support/bets.ts';
import {
  deadlineOf,
  type HeldGateway,
  STATEMENTS,
  startHeldGateway,
} from './support/held-gateway.ts';
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
    // Nobody looks after the bet before its outcome has come too late.
    gateway: { delivery: { confirmUnknownAfterMs: 4_000 } },
    operators: {
      alpha: wallet({ stableRequestId: true }),
      beta: wallet({ unknownRepeats: 'hold' }),
    },
  });
  ({ gateway, postgres } = held);
});
afterAll(() => held.close());

/** The wallet pays; its process is frozen until others have called the outcome unknown. */
async function thawTooLate(bet: TestBet, settle: () => Promise<{ status: number }>): Promise<void> {
  const { transactionId } = bet;
  const finish = postgres.holdRequest(STATEMENTS.finish, transactionId);
  const isOver = deadlineOf();
  const settling = settle();
  await finish.stopped;
  expect((await settling).status).toBe(503);
  await isOver();
  await endLeases(gateway, transactionId);
  await expect
    .poll(() => betState(gateway.databaseUrl, transactionId), PATIENCE)
    .toMatchObject({ busy: null, settlement: 'unknown' });
  finish.release();
  await expect.poll(() => attemptsOf(bet), PATIENCE).toMatchObject([{ result: 'accepted' }]);
}

describe('a result that its wallet accepted after its lease had ended', { timeout: 60_000 }, () => {
  it('goes out again under its first requestId: a wallet that keys on it pays once (I5)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'alpha' });
    await thawTooLate(bet, () => bet.settle('20'));
    expect((await bet.settle('20')).status).toBe(200);
    expect(requestIdsOf(bet)).toHaveLength(2);
    expect(new Set(requestIdsOf(bet)).size).toBe(1);
  });

  it('is left to a person where repeats are held (I4)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'beta' });
    await thawTooLate(bet, () => bet.settle('20'));
    await untilDeliveriesAre(bet, [{ state: 'dead', operation: 'settle' }]);
    expect((await bet.settle('20')).status).toBe(503);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
  });
});
