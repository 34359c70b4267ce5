import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import { ampleDeadline } from '../../support/journal.ts';
import {
  bets,
  commit,
  commitOf,
  deliveriesOf,
  find,
  guard,
  journal,
  ROLLED_BACK,
  stored,
  useBets,
} from './support/bets.ts';

useBets();
afterEach(() => vi.restoreAllMocks());

const busyWith = (operation: 'settle' | 'update' = 'settle') => ({
  busy: { operation, attemptId: randomUUID(), lapsed: false } as const,
});

const many = (count: number) => Promise.all(Array.from({ length: count }, () => stored()));

/** How many statements with this name are sent meanwhile. */
async function counted(name: string, work: () => Promise<unknown>): Promise<number> {
  // `query` is private to the database.
  const query = vi.spyOn(
    journal.database as unknown as { query: (of: unknown) => unknown },
    'query',
  );
  await work();
  return query.mock.calls.filter(([of]) => of instanceof Object && 'name' in of && of.name === name)
    .length;
}

/** A bet with a promised rollback that is no longer needed. */
async function withPromise(): Promise<{ readonly read: Bet; readonly supersedes: string[] }> {
  const bet = await stored();
  await commit(commitOf(bet, {}, { delivery: guard('pending') }));
  const read = await find(bet);
  return { read, supersedes: read.deliveries.map(({ id }) => id) };
}

const statesOf = async (bet: Bet) => (await deliveriesOf(bet)).map(({ state }) => state);

describe('decisions that come together', () => {
  it('are one statement, and each is written to its own bet', async () => {
    const read = await many(20);
    const bodies = read.map((_, at) => Buffer.from(at % 2 === 0 ? `{"at":${at}}` : '\0\\x"'));
    const wanted = read.map((bet, at) => {
      const { record, ...of } = commitOf(bet, busyWith(), { delivery: guard('live') });
      return { ...of, record: { ...record, body: bodies[at] ?? record.body, requestId: `${at}` } };
    });
    const statements = await counted('bet-commit-change', async () => {
      const ids = await Promise.all(wanted.map(commit));
      expect(new Set(ids).size).toBe(20);
    });
    expect(statements).toBe(1);
    for (const [at, bet] of read.entries()) {
      expect(await find(bet)).toMatchObject({ busy: wanted[at]?.to.busy, version: 2 });
      expect(await statesOf(bet)).toEqual(['live']);
      const [operation] = await bets.operationsOf(bet.transactionId);
      expect(operation).toMatchObject({ body: bodies[at], requestId: `${at}` });
    }
  });

  it('on one bet: the first takes effect with all that it does, the other with nothing (I6)', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { read, supersedes } = await withPromise();
      const settle = commitOf(read, busyWith());
      const rollback = commitOf(read, { rollback: ROLLED_BACK }, { supersedes });
      const pair = round % 2 === 0 ? [settle, rollback] : [rollback, settle];
      const ids = await Promise.all(pair.map(commit));
      expect(ids).toContain('moved');
      const isSettled = (await find(read)).busy !== undefined;
      expect(ids[pair.indexOf(isSettled ? settle : rollback)]).toMatch(/^\d+$/);
      expect(await statesOf(read)).toEqual([isSettled ? 'pending' : 'superseded']);
    }
  });

  it('are each written in time or not at all (I11)', async () => {
    const [late, inTime] = await many(2);
    if (late === undefined || inTime === undefined) throw new Error('no bets');
    const over = new Deadline(systemClock, systemClock.monotonicMs() - 10_000, 5_000, 500);
    const decisions = await Promise.all([
      bets.commit(commitOf(late, busyWith()), over),
      bets.commit(commitOf(inTime, busyWith()), ampleDeadline()),
    ]);
    expect(decisions).toMatchObject([{ kind: 'tooLate' }, { kind: 'committed' }]);
    expect(await find(late)).toMatchObject({ version: 1 });
  });
});

describe('bets that are looked up together', () => {
  it('are one statement, even for the same bet or a missing one', async () => {
    const read = await many(8);
    const asked = [...read, ...read].map(({ transactionId }) => transactionId);
    const statements = await counted('bet-find', async () => {
      const found = await Promise.all([...asked, 'no-such-bet'].map((id) => bets.find(id)));
      expect(found).toEqual([...read, ...read, undefined]);
    });
    expect(statements).toBe(1);
  });

  it('fail alone where this release cannot read one of them', async () => {
    const [strange, ...others] = await many(4);
    if (strange === undefined) throw new Error('no bets');
    const nowhere = `UPDATE bets SET settlement_type = 'astray', settlement = 'settled' WHERE transaction_id = $1`;
    await journal.sql(nowhere, [strange.transactionId]);
    const found = await Promise.allSettled(
      [strange, ...others].map(({ transactionId }) => bets.find(transactionId)),
    );
    expect(found.map(({ status }) => status)).toEqual([
      'rejected',
      ...others.map(() => 'fulfilled'),
    ]);
  });
});

describe('a bet whose row breaks a rule', () => {
  const RULES: readonly [what: string, change: string][] = [
    ['an unknown place', `place = 'astray'`],
    ['an unknown settlement', `settlement = 'astray'`],
    ['an unknown rollback', `rollback = 'astray'`],
    ['a place in flight that is nobody’s', `place = 'in_flight', busy_attempt = NULL`],
    ['confirmations of nothing', 'confirm_left = 1'],
    ['an unknown late effect', `confirm_left = 1, late_kind = 'astray', late_at = now()`],
    ['a late effect without its time', `confirm_left = 1, late_kind = 'place'`],
  ];

  it.each(RULES)('is not read, and so not acted on: %s', async (_, change) => {
    const { transactionId } = await stored();
    await journal.sql(`UPDATE bets SET ${change} WHERE transaction_id = $1`, [transactionId]);
    await expect(bets.find(transactionId)).rejects.toThrow(/^column \w+ holds/);
  });
});
