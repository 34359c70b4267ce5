import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type TestBet, unplacedBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { acceptedBet, answersOf, settlesOf, untilDeliveriesAre } from './support/bets.ts';
import { type HeldGateway, STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENCE, PATIENT, QUICK } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  held = await startHeldGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT },
  });
  ({ gateway, postgres } = held);
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => held.close());

/** A lease lasts 15 s: a bet that is free earlier was actively freed. */
const FREED = { ...PATIENCE, timeout: 10_000 };

const state = (bet: TestBet) => betState(gateway.databaseUrl, bet.transactionId);

type Operation = Parameters<TestBet['wallet']['hold']>[0];

const operations: readonly [Operation, (bet: TestBet) => ReturnType<TestBet['settle']>][] = [
  ['settle', (bet) => bet.settle('20')],
  ['rollback', (bet) => bet.rollback()],
];

describe('rule 15: an outcome whose connection broke on its way to PostgreSQL', {
  timeout: 60_000,
}, () => {
  it.each(operations)(
    'is written by a second statement, and told: a %s (I3, I5)',
    async (name, send) => {
      const bet = await acceptedBet(gateway);
      const finish = postgres.holdRequest(STATEMENTS.finish, bet.transactionId);
      const sending = send(bet);
      await finish.stopped;
      expect(await state(bet)).toMatchObject({ busy: name });
      finish.swallow();
      expect((await sending).status).toBe(200);
      expect(await state(bet)).toMatchObject({ busy: null, attempts: ['accepted', 'accepted'] });
      expect((await send(bet)).status).toBe(200);
      expect(bet.arrivals()).toEqual(['place', name]);
    },
  );

  it('is written so for a delivery too: its wallet is not called a second time (I4, I5)', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    const failing = { kind: 'status', status: 500 } as const;
    const gate = bet.wallet.hold('rollback', { transactionId, point: 'after' });
    bet.wallet.misbehave('rollback', failing, { transactionId, calls: 1 });
    const answer = bet.rollback();
    await gate.arrived;
    gate.release();
    expect((await answer).status).toBe(200);
    const delivery = bet.wallet.hold('rollback', { transactionId, point: 'after' });
    await delivery.arrived;
    const finish = postgres.holdRequest(STATEMENTS.finish, transactionId);
    delivery.release();
    await finish.stopped;
    finish.swallow();
    await untilDeliveriesAre(bet, [{ state: 'delivered', attempts: 2 }]);
    expect(bet.arrivals()).toEqual(['place', 'rollback', 'rollback']);
  });

  it('frees its bet even if PostgreSQL had executed it and its answer was lost: written once (I5)', async () => {
    const bet = await acceptedBet(gateway);
    const answer = postgres.holdAnswer(STATEMENTS.finish, bet.transactionId);
    const settling = bet.settle('20');
    await answer.answered;
    answer.swallow();
    expect((await settling).status).toBe(200);
    await expect.poll(() => state(bet), FREED).toMatchObject({ busy: null });
    expect(await state(bet)).toMatchObject({ attempts: ['accepted', 'accepted'] });
    await expect
      .poll(() => answersOf(bet), PATIENCE)
      .toMatchObject([{ operation: 'place' }, { operation: 'settle', status: 200 }]);
    expect((await bet.settle('20')).status).toBe(200);
    expect(settlesOf(bet)).toEqual(['20']);
  });

  it('and that PostgreSQL had heard, is told so to a place and to its copy (I3)', async () => {
    const bet = await unplacedBet(gateway);
    const answer = postgres.holdAnswer(STATEMENTS.placeFinish, bet.transactionId);
    const first = bet.place();
    await answer.answered;
    const copy = await bet.place();
    answer.swallow();
    expect(await first).toMatchObject({ status: copy.status, body: copy.body });
    expect(bet.arrivals()).toEqual(['place']);
  });
});

describe('rule 15: an outcome that PostgreSQL is away for', { timeout: 60_000 }, () => {
  /** PostgreSQL is away while the operation is at its wallet, and returns after its caller was answered. */
  async function awayDuring(
    bet: TestBet,
    name: Operation,
    send: () => Promise<{ readonly status: number }>,
  ): Promise<number> {
    const gate = bet.wallet.hold(name, { transactionId: bet.transactionId, point: 'after' });
    const sending = send();
    await gate.arrived;
    await postgres.cut();
    gate.release();
    const { status } = await sending;
    await postgres.restore();
    return status;
  }

  it.each(operations.filter(([name]) => name === 'settle' || name === 'unsettle'))(
    'is written when it is back, and its bet free before its lease ends: a %s (I4, I5)',
    async (name, send) => {
      const bet = await acceptedBet(gateway);
      expect(await awayDuring(bet, name, () => send(bet))).toBe(503);
      await expect.poll(() => state(bet), FREED).toMatchObject({ busy: null });
      expect(await state(bet)).toMatchObject({ attempts: ['accepted', 'accepted'] });
      await expect.poll(async () => (await send(bet)).status, PATIENCE).toBe(200);
      expect(bet.arrivals()).toEqual(['place', name]);
    },
  );

  it('is written for a place as answered 100, so that its rollback need not wait (I3, I4)', async () => {
    const bet = await unplacedBet(gateway);
    expect(await awayDuring(bet, 'place', () => bet.place())).toBe(400);
    await expect.poll(() => state(bet), FREED).toMatchObject({ place: 'accepted', busy: null });
    expect((await bet.place()).body).toContain('"code":100');
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });
});
