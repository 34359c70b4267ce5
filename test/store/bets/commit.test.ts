import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import { ampleDeadline } from '../../support/journal.ts';
import { rowsOf } from '../../support/server.ts';
import {
  AT,
  bets,
  commit,
  commitOf,
  deliveriesOf,
  find,
  guard,
  journal,
  lapse,
  newBet,
  ROLLED_BACK,
  stored,
  useBets,
} from './support/bets.ts';

useBets();

describe('a commit', () => {
  const states: [string, Partial<Bet>][] = [
    ['accepted', {}],
    ['declined', { place: { kind: 'declined', code: 7, message: 'Not enough money' } }],
    ['not sent', { place: { kind: 'notSent' } }],
    ['unknown', { place: { kind: 'unknown' } }],
    ['unseen', { place: { kind: 'unseen' }, amount: undefined, currency: undefined }],
    ['of nobody', { place: { kind: 'unseen' }, owner: undefined, rollback: ROLLED_BACK }],
    ['refused a rollback', { rollback: { ...ROLLED_BACK, refusal: { code: 8, message: 'Done' } } }],
    ['updated', { update: { key: '1.20', transactionTime: AT } }],
    ['unsettled', { settlement: { kind: 'unsettled', transactionTime: AT } }],
    [
      'settled',
      {
        settlement: {
          kind: 'settled',
          amount: '9007199254740993',
          resultType: 'won',
          transactionTime: AT,
        },
      },
    ],
    ['in flight', { busy: { operation: 'settle', attemptId: randomUUID(), lapsed: false } }],
  ];

  it.each(states)('keeps every fact of a bet that is %s', async (_, changes) => {
    const bet = await stored(changes);
    expect(bet).toEqual({ ...newBet(), ...changes, transactionId: bet.transactionId, version: 1 });
  });

  it('is written by one of many that read the same (I6)', async () => {
    const read = await stored();
    const tries = Array.from({ length: 8 }, () => commitOf(read, { rollback: ROLLED_BACK }));
    const ids = await Promise.all(tries.map(commit));
    expect(ids.filter((id) => id !== 'moved')).toHaveLength(1);
    expect(await find(read)).toMatchObject({ version: 2 });
  });

  it('of a bet not yet there is written by one of many (I6)', async () => {
    const bet = newBet();
    const tries = Array.from({ length: 8 }, () => commitOf(bet));
    const ids = await Promise.all(tries.map(commit));
    expect(ids.filter((id) => id !== 'moved')).toHaveLength(1);
  });

  it('that is repeated because nobody reported it is recognised as our own (I3)', async () => {
    const wanted = commitOf(await stored(), { rollback: ROLLED_BACK });
    const id = await commit(wanted);
    expect(await commit(wanted)).toBe(id);
  });

  it('writes none of its promises if the bet has changed', async () => {
    const read = await stored();
    await commit(commitOf(read, { rollback: ROLLED_BACK }));
    await commit(commitOf(read, {}, { delivery: guard('pending') }));
    expect(await deliveriesOf(read)).toEqual([]);
  });

  it.each([
    ['settle', 'superseded'],
    ['update', 'pending'],
  ] as const)('of a %s leaves what was to be sent once more %s', async (operation, state) => {
    const read = await stored();
    await commit(commitOf(read, {}, { delivery: guard('pending') }));
    const confirm = `UPDATE deliveries SET purpose = 'confirm' WHERE transaction_id = $1`;
    await journal.sql(confirm, [read.transactionId]);
    const busy = { operation, attemptId: randomUUID(), lapsed: false };
    await commit(commitOf(await find(read), { busy }));
    expect((await deliveriesOf(read)).map((delivery) => delivery.state)).toEqual([state]);
  });

  it('ages what it promises by nothing that the operator was held before (I4)', async () => {
    await journal.sql(
      `INSERT INTO operator_holds (operator_id, held_ms, counted_at) VALUES ('alpha', 5000, now())`,
    );
    const read = await stored();
    await commit(commitOf(read, {}, { delivery: guard('pending') }));
    const rows = await rowsOf(
      journal.url,
      `SELECT held_ms::int FROM deliveries WHERE transaction_id = '${read.transactionId}'`,
    );
    expect(rows).toEqual([{ held_ms: 5000 }]);
  });

  it('supersedes nothing where the bet has moved (I4)', async () => {
    const read = await stored();
    await commit(commitOf(read, {}, { delivery: guard('pending') }));
    const supersedes = (await find(read)).deliveries.map(({ id }) => id);
    expect(await commit(commitOf(read, {}, { supersedes }))).toBe('moved');
    expect((await deliveriesOf(read)).map(({ state }) => state)).toEqual(['pending']);
  });

  it('beside an attempt under way does not prolong its lease (I6)', async () => {
    const busy = { operation: 'settle', attemptId: randomUUID(), lapsed: false } as const;
    const bet = await stored({ busy });
    await lapse(bet);
    await commit(commitOf(await find(bet), {}, { delivery: guard('pending') }));
    expect(await find(bet)).toMatchObject({ version: 2, busy: { ...busy, lapsed: true } });
  });

  it('supersedes promises that are no longer needed together with making its own', async () => {
    const read = await stored();
    await commit(commitOf(read, {}, { delivery: guard('pending') }));
    const before = await find(read);
    const supersedes = before.deliveries.map(({ id }) => id);
    await commit(commitOf(before, {}, { delivery: guard('pending'), supersedes }));
    expect((await deliveriesOf(read)).map(({ state }) => state)).toEqual(['superseded', 'pending']);
    expect((await find(read)).deliveries).toHaveLength(1);
  });
});

describe('a commit whose caller has been answered', () => {
  /** The caller's time is over on PostgreSQL's clock, whatever this process's clock says. */
  const past = () => new Deadline(systemClock, systemClock.monotonicMs() - 10_000, 9_000, 0);

  it('writes nothing, of a bet that is there and of one that is not (I11)', async () => {
    const read = await stored();
    const late = commitOf(read, { rollback: ROLLED_BACK }, { delivery: guard('pending') });
    expect(await bets.commit(late, past())).toEqual({ kind: 'tooLate' });
    expect(await find(read)).toEqual(read);
    expect(await deliveriesOf(read)).toEqual([]);
    const bet = newBet();
    expect(await bets.commit(commitOf(bet), past())).toEqual({ kind: 'tooLate' });
    expect(await bets.find(bet.transactionId)).toBeUndefined();
  });

  it('puts no copy on record either (I11)', async () => {
    const { transactionId, owner } = await stored();
    const { record } = commitOf(newBet());
    const copy = { transactionId, operatorId: owner?.operatorId };
    expect(await bets.recordCopy(copy, record, past())).toBe(false);
    expect(await bets.operationsOf(transactionId)).toHaveLength(1);
    expect(await bets.recordCopy(copy, record, ampleDeadline())).toBe(true);
  });

  it('is recognised where it had been written in time and nobody reported it (I3)', async () => {
    const wanted = commitOf(await stored(), { rollback: ROLLED_BACK });
    const id = await commit(wanted);
    expect(await bets.commit(wanted, past())).toEqual({ kind: 'committed', operationId: id });
  });
});
