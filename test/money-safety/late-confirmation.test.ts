import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endLeases, sql } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import {
  acceptedBet,
  lose,
  makeDue,
  settlesOf,
  timeComes,
  untilDeliveriesAre,
} from './support/bets.ts';
import { type HeldGateway, STATEMENTS, startHeldGateway } from './support/held-gateway.ts';
import { PATIENCE, PATIENT, QUEUEING, QUICK } from './support/patience.ts';

let held: HeldGateway;
let gateway: TestGateway;
let postgres: TcpProxy;
beforeAll(async () => {
  held = await startHeldGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT, queueing: QUEUEING },
  });
  ({ gateway, postgres } = held);
});
afterEach(() => {
  for (const id of ['alpha', 'queueing']) gateway.wallet(id).behave();
});
afterAll(() => held.close());

const rollbacksOf = (bet: TestBet) => bet.wallet.arrivals(bet.transactionId, 'rollback').length;

/** The service repeats a rollback that a busy machine did not promise in time. */
async function isRolledBack(bet: TestBet): Promise<void> {
  await expect.poll(async () => (await bet.rollback()).status, PATIENCE).toBe(200);
}

/** Has the sweep look at the bet. Resolves once its last confirmation is to come in minutes. */
async function waitsForLast({ transactionId }: TestBet): Promise<void> {
  const look = 'UPDATE bets SET confirm_at = now() WHERE transaction_id = $1';
  await sql(gateway, look, [transactionId]);
  const next = `SELECT confirm_left, coalesce(confirm_at > now() + interval '9 minutes', false) AS is_later
                  FROM bets WHERE transaction_id = $1`;
  const last = [{ confirm_left: 1, is_later: true }];
  await expect.poll(() => sql(gateway, next, [transactionId]), PATIENCE).toEqual(last);
}

/** Its last confirmation, of 20, got no answer; that is not written yet when the rollback can wait no longer. */
async function rolledBackMeanwhile() {
  const bet = await acceptedBet(gateway);
  lose(bet, 'settle');
  expect((await bet.settle('10')).status).toBe(503);
  expect((await bet.settle('20')).status).toBe(200);
  await timeComes(bet, 'first');
  lose(bet, 'settle');
  const finish = postgres.holdRequest(STATEMENTS.finish, bet.transactionId);
  await makeDue(bet, 'second');
  await finish.stopped;
  await isRolledBack(bet);
  expect(rollbacksOf(bet)).toBe(0);
  return { bet, finish };
}

/** The same, of a confirmation of 20; and a person has put another result right by hand before it is written. */
async function resolvedMeanwhile() {
  const bet = await acceptedBet(gateway, { operatorId: 'queueing' });
  const { transactionId, wallet } = bet;
  const begin = wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
  for (const amount of ['10', '20', '30']) expect((await bet.settle(amount)).status).toBe(200);
  wallet.misbehave('settle', { kind: 'delay', ms: 0 }, { transactionId, calls: 2 });
  wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
  begin();
  const states = [{ state: 'delivered' }, { state: 'delivered' }, { state: 'dead' }] as const;
  const [, , dead] = await untilDeliveriesAre(bet, states);
  await timeComes(bet, 'first');
  lose(bet, 'settle');
  const finish = postgres.holdRequest(STATEMENTS.finish, transactionId);
  await makeDue(bet, 'second');
  await finish.stopped;
  const id = dead?.id ?? '';
  await asPerson(gateway, (admin) => admin.resolve(id, 'ann', 'paid by hand', BY));
  return { bet, finish };
}

const RESOLVED = [
  { state: 'delivered' },
  { state: 'delivered' },
  { state: 'resolved' },
  { state: 'superseded' },
] as const;

describe('rule 3: a lost confirmation may land behind a rollback that did not wait for it', {
  timeout: 90_000,
}, () => {
  it.each(['is written late', 'is never written'])(
    'so the rollback is sent once more, ten times as late, where the outcome %s (I5)',
    async (fate) => {
      const { bet, finish } = await rolledBackMeanwhile();
      if (fate === 'is never written') await endLeases(gateway, bet.transactionId);
      else finish.release();
      await untilDeliveriesAre(bet, [{ state: 'superseded' }, { state: 'delivered' }]);
      finish.release();
      await waitsForLast(bet);
      expect(rollbacksOf(bet)).toBe(1);
      bet.wallet.applyLate(bet.transactionId);
      await timeComes(bet, 'second');
      expect(rollbacksOf(bet)).toBe(2);
    },
  );
});

describe('rule 3: a lost confirmation may land behind what came after a person’s word', {
  timeout: 90_000,
}, () => {
  it('so a rollback that did not wait for it is sent once more, ten times as late (I5)', async () => {
    const { bet, finish } = await resolvedMeanwhile();
    await isRolledBack(bet);
    finish.release();
    await untilDeliveriesAre(bet, [...RESOLVED, { state: 'delivered' }]);
    await waitsForLast(bet);
    expect(rollbacksOf(bet)).toBe(1);
    bet.wallet.applyLate(bet.transactionId);
    await timeComes(bet, 'second');
    expect(rollbacksOf(bet)).toBe(2);
  });

  it('so the next result is sent once more, ten times as late', async () => {
    const { bet, finish } = await resolvedMeanwhile();
    finish.release();
    await untilDeliveriesAre(bet, RESOLVED);
    expect((await bet.settle('40')).status).toBe(200);
    await waitsForLast(bet);
    expect(settlesOf(bet).slice(-2)).toEqual(['20', '40']);
    bet.wallet.applyLate(bet.transactionId);
    await timeComes(bet, 'second');
    expect([settlesOf(bet).at(-1), bet.balance()]).toEqual(['40', '940']);
  });
});
