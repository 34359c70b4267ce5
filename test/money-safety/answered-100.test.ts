import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { createService } from '../../tools/simulator/service.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import { SERVICE_SECRET, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { letNobodyIn } from '../support/server.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { answersOf, lose, untilDeliveriesAre } from './support/bets.ts';
import {
  deadlineOf,
  type HeldGateway,
  STATEMENTS,
  settleDown,
  startHeldGateway,
} from './support/held-gateway.ts';
import { PATIENCE, PATIENT } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  held = await startHeldGateway({
    worker: true,
    operators: { alpha: PATIENT },
  });
  ({ gateway, postgres } = held);
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => held.close());

/** The wallet has accepted it and its outcome was committed, but too late for the answer. */
const lateCommits: readonly [string, (bet: TestBet) => Promise<void>][] = [
  [
    'reached PostgreSQL too late',
    async (bet) => {
      const commit = postgres.holdRequest(STATEMENTS.placeFinish, bet.transactionId);
      const isOver = deadlineOf();
      expect((await bet.place()).json?.code).toBe(100);
      await isOver();
      commit.release();
      await commit.answered;
      await settleDown(gateway);
    },
  ],
  [
    'was in time, but nobody heard of it in time',
    async (bet) => {
      const commit = postgres.holdAnswer(STATEMENTS.placeFinish, bet.transactionId);
      expect((await bet.place()).json?.code).toBe(100);
      await commit.answered;
      commit.release();
      await expect
        .poll(() => answersOf(bet), PATIENCE)
        .toMatchObject([{ operation: 'place', status: 400 }]);
    },
  ],
  [
    'came when its caller had hung up',
    async (bet) => {
      const { baseUrl } = gateway;
      const hasty = createService({ baseUrl, secret: SERVICE_SECRET, timeoutMs: 1_000 });
      const gate = bet.wallet.hold('place', { transactionId: bet.transactionId });
      const asked = hasty.call('POST', '/payment/bet', placeBody(bet.slip));
      await gate.arrived;
      expect((await asked).failure).toBe('timeout');
      // After another round trip the gateway knows that the caller hung up.
      await gateway.service.balance(bet.player);
      gate.release();
      await expect
        .poll(() => answersOf(bet), PATIENCE)
        .toMatchObject([{ operation: 'place', status: 400 }]);
      await settleDown(gateway);
      await hasty.close();
    },
  ],
];

/** As if `originateRollbackAfterMs` had passed since the place. */
async function ageBet(bet: TestBet): Promise<void> {
  await sql(
    gateway,
    `UPDATE bets SET created_at = clock_timestamp() - interval '11 minutes' WHERE transaction_id = $1`,
    [bet.transactionId],
  );
}

describe.each(lateCommits)(
  'rule 6: a place that was accepted and answered 100, because its outcome %s,',
  { timeout: 60_000 },
  (_, answeredLate) => {
    it('stays answered 100, takes no result, and is rolled back by the gateway (I3, I5)', async () => {
      const bet = await unplacedBet(gateway);
      await answeredLate(bet);
      expect(bet.balance()).toBe('900');
      expect((await bet.place()).json?.code).toBe(100);
      expect((await bet.settle('20')).status).toBe(503);
      expect((await bet.unsettle()).status).toBe(503);
      const operator = gateway.operator('alpha');
      const { json } = await operator.bet(bet.transactionId);
      await operator.close();
      expect(json?.operations).toMatchObject([
        {
          answer: { status: 400, body: expect.stringContaining('"code":100') },
          attempts: [{ result: 'accepted', status: 200 }],
        },
      ]);
      await ageBet(bet);
      await untilDeliveriesAre(bet, [{ operation: 'rollback', state: 'delivered' }]);
      expect(bet.balance()).toBe('1000');
      expect(bet.arrivals()).toEqual(['place', 'rollback']);
      expect((await bet.place()).json?.code).toBe(8);
    });
  },
);

describe('rule 6: a place that was answered 100 and rolled back by the service', () => {
  it('gets no rollback of the gateway’s own (I5)', async () => {
    const bet = await unplacedBet(gateway);
    lose(bet, 'place');
    expect((await bet.place()).json?.code).toBe(100);
    expect((await bet.rollback()).status).toBe(200);
    await ageBet(bet);
    await settleDown(gateway);
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
      rollback: 'confirmed',
      operations: ['place', 'rollback'],
    });
  });
});

describe('rule 6: a place whose outcome was committed, and PostgreSQL let nobody in to ask,', {
  timeout: 60_000,
}, () => {
  it('is answered 100, and stays so to its copies (I3)', async () => {
    const bet = await unplacedBet(gateway);
    const commit = postgres.holdAnswer(STATEMENTS.placeFinish, bet.transactionId);
    const first = bet.place();
    await commit.answered;
    const letIn = await letNobodyIn(gateway.databaseUrl);
    commit.swallow();
    expect((await first).json?.code).toBe(100);
    // Meanwhile its correction is refused as well.
    expect((await bet.settle('20')).status).toBe(503);
    expect((await bet.unsettle()).status).toBe(503);
    await letIn();
    await expect
      .poll(() => answersOf(bet), PATIENCE)
      .toMatchObject([{ operation: 'place', status: 400 }]);
    expect((await bet.place()).json?.code).toBe(100);
    expect(bet.arrivals()).toEqual(['place']);
  });
});

describe('rule 6: a place that was declined and answered 100', { timeout: 60_000 }, () => {
  it('stays answered 100, and its rollback is answered without a call (I3)', async () => {
    const bet = await unplacedBet(gateway, { amount: '100000' });
    const commit = postgres.holdRequest(STATEMENTS.placeFinish, bet.transactionId);
    const isOver = deadlineOf();
    expect((await bet.place()).json?.code).toBe(100);
    await isOver();
    commit.release();
    await commit.answered;
    await settleDown(gateway);
    expect((await bet.place()).json?.code).toBe(100);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place']);
  });
});
