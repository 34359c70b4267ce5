import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { onServer } from '../support/server.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet, answersOf, settlesOf, untilDeliveriesAre } from './support/bets.ts';
import {
  deadlineOf,
  type HeldGateway,
  STATEMENTS,
  settleDown,
  startHeldGateway,
} from './support/held-gateway.ts';
import { PATIENCE, PATIENT, QUEUEING, QUICK } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  held = await startHeldGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT, queue: QUEUEING },
  });
  ({ gateway, postgres } = held);
});
afterAll(() => held.close());

const status = ({ status: of }: { status: number }) => of;

/** While its wallet must not be called, every settle of this operator becomes a promise. */
async function whilePromising(work: () => Promise<void>): Promise<void> {
  gateway.parts.wallets.setOverride('queue', 'money', 'open');
  try {
    await work();
  } finally {
    gateway.parts.wallets.setOverride('queue', 'money', 'auto');
  }
}

describe('rule 1: after the answer nothing is written (I1, I3, I11)', { timeout: 60_000 }, () => {
  it('a settle that thaws after its 503 is not promised behind one that was promised since', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'queue' });
    await whilePromising(async () => {
      const frozen = postgres.holdRequest(STATEMENTS.find, bet.transactionId);
      expect(status(await bet.settle('20'))).toBe(503);
      await frozen.stopped;
      expect(status(await bet.settle('20'))).toBe(200);
      expect(status(await bet.settle('50'))).toBe(200);
      frozen.release();
      await frozen.answered;
      await settleDown(gateway);
      expect(await bet.deliveries()).toMatchObject([
        { operation: 'settle', state: 'superseded' },
        { operation: 'settle', state: 'pending' },
      ]);
    });
    await untilDeliveriesAre(bet, [{ state: 'superseded' }, { state: 'delivered' }]);
    expect(settlesOf(bet)).toEqual(['50']);
    expect(bet.balance()).toBe('950');
  });

  it('a settle that thaws after its 503 is not sent over one that was paid since', async () => {
    const bet = await acceptedBet(gateway);
    const frozen = postgres.holdRequest(STATEMENTS.find, bet.transactionId);
    expect(status(await bet.settle('20'))).toBe(503);
    await frozen.stopped;
    expect(status(await bet.settle('50'))).toBe(200);
    frozen.release();
    await frozen.answered;
    await settleDown(gateway);
    expect(settlesOf(bet)).toEqual(['50']);
    expect(await answersOf(bet)).toMatchObject([
      { operation: 'place', status: 200 },
      { operation: 'settle', status: 200 },
    ]);
  });

  const commits: readonly [string, (bet: TestBet) => Promise<{ status: number }>][] = [
    ['settle', (bet) => bet.settle('20')],
    ['rollback', (bet) => bet.rollback()],
  ];

  it.each(commits)(
    'the commit of a %s that reaches PostgreSQL after its 503 is refused there, by its clock',
    async (operation, send) => {
      const bet = await acceptedBet(gateway);
      const frozen = postgres.holdRequest(STATEMENTS.commit, bet.transactionId);
      const isOver = deadlineOf();
      expect(status(await send(bet))).toBe(503);
      await isOver();
      frozen.release();
      await frozen.answered;
      await settleDown(gateway);
      // Nothing is under way, promised or fenced: the bet is as it was.
      expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
        rollback: 'none',
        settlement: 'none',
        busy: null,
        operations: ['place'],
      });
      expect(await bet.deliveries()).toEqual([]);
      expect(bet.arrivals()).toEqual(['place']);
      // Nothing blocks the service's repeat.
      expect(status(await send(bet))).toBe(200);
      expect(bet.arrivals()).toEqual(['place', operation]);
    },
  );

  it('the intent of a place that reaches PostgreSQL after its 100 is refused there', async () => {
    const bet = await unplacedBet(gateway);
    const frozen = postgres.holdRequest(STATEMENTS.placeBegin, bet.transactionId);
    const isOver = deadlineOf();
    expect((await bet.place()).json?.code).toBe(100);
    await isOver();
    frozen.release();
    await frozen.answered;
    await settleDown(gateway);
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toBeUndefined();
    expect(bet.arrivals()).toEqual([]);
  });

  it('a commit that waited in PostgreSQL for the row of its bet is late too', async () => {
    const bet = await acceptedBet(gateway);
    await onServer(gateway.databaseUrl, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM bets WHERE transaction_id = $1 FOR UPDATE', [
        bet.transactionId,
      ]);
      const isOver = deadlineOf();
      expect(status(await bet.settle('20'))).toBe(503);
      await isOver();
      await client.query('COMMIT');
    });
    await settleDown(gateway);
    expect(await betState(gateway.databaseUrl, bet.transactionId)).toMatchObject({
      busy: null,
      operations: ['place'],
    });
    expect(bet.arrivals()).toEqual(['place']);
  });
});

describe('rule 1: the journal says what was really answered (I3)', { timeout: 60_000 }, () => {
  it('a settle whose outcome was committed, but reported too late, is recorded with the 503 that was sent', async () => {
    const bet = await acceptedBet(gateway);
    const answer = postgres.holdAnswer(STATEMENTS.finish, bet.transactionId);
    expect(status(await bet.settle('20'))).toBe(503);
    await answer.answered;
    answer.release();
    await expect
      .poll(() => answersOf(bet), PATIENCE)
      .toMatchObject([{ operation: 'place' }, { operation: 'settle', status: 503 }]);
    // The bet knows that the wallet has executed it: the repeat is answered, and not sent again.
    expect(status(await bet.settle('20'))).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
  });

  it('a promise that was committed, but answered too late, is on record as 503 even if PostgreSQL fails again', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'queue' });
    await whilePromising(async () => {
      const answer = postgres.holdAnswer(STATEMENTS.commit, bet.transactionId);
      const correction = postgres.holdRequest(STATEMENTS.correct, bet.transactionId);
      expect(status(await bet.settle('20'))).toBe(503);
      await answer.answered;
      answer.release();
      // The correction of the record is lost on its way: it is sent again, and nothing else breaks.
      await correction.stopped;
      correction.swallow();
      await expect
        .poll(() => answersOf(bet), PATIENCE)
        .toMatchObject([{ operation: 'place' }, { operation: 'settle', status: 503 }]);
      expect(await bet.deliveries()).toMatchObject([{ operation: 'settle', state: 'pending' }]);
    });
    await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    expect(settlesOf(bet)).toEqual(['20']);
  });

  it('a settle whose commit was acknowledged on a broken connection is answered as it is on record', async () => {
    const bet = await acceptedBet(gateway);
    const answer = postgres.holdAnswer(STATEMENTS.finish, bet.transactionId);
    const settling = bet.settle('20');
    await answer.answered;
    answer.swallow();
    const told = await settling;
    await expect
      .poll(() => answersOf(bet), PATIENCE)
      .toMatchObject([{ operation: 'place' }, { operation: 'settle', status: told.status }]);
    expect(status(await bet.settle('20'))).toBe(200);
    expect(settlesOf(bet)).toEqual(['20']);
    expect(bet.balance()).toBe('920');
  });

  it('a rollback that was answered with its promise keeps that answer, whatever the wallet said (I4)', async () => {
    const bet = await acceptedBet(gateway);
    const answer = postgres.holdAnswer(STATEMENTS.finish, bet.transactionId);
    const first = await bet.rollback();
    expect(first.status).toBe(200);
    await answer.answered;
    answer.release();
    await settleDown(gateway);
    await expect
      .poll(() => answersOf(bet), PATIENCE)
      .toMatchObject([{}, { operation: 'rollback', status: 200, body: first.body }]);
    await expect.poll(async () => (await bet.rollback()).body, PATIENCE).toBe(first.body);
  });
});
