import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import type { AttemptRecord } from '../../../src/store/bets/attempt-record.ts';
import type { Outcome } from '../../../src/store/bets/outcome.ts';
import { PlaceJournal } from '../../../src/store/bets/place-journal.ts';
import { ampleDeadline } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';
import {
  AT,
  bets,
  commit,
  commitOf,
  deliveriesOf,
  find,
  guard,
  journal,
  stored,
  useBets,
} from './support/bets.ts';

/** Somebody else, such as a person at a prompt, keeps rows of bets locked. */

useBets();

const ATTEMPT: AttemptRecord = {
  ...{ startedAtMs: Date.parse(AT), result: 'accepted', error: undefined, answer: undefined },
  trace: { sent: true, latencyMs: 12, status: 200 },
};
const LATE = { status: 503, body: '{"code":100}' };
const STANDS = { kind: 'committed' };
/** More than the journal has connections. */
const MANY = 10;

/** @param use may release the locks earlier; afterwards nothing is locked */
async function whileLocked<T>(
  transactionIds: readonly string[],
  use: (letGo: () => Promise<unknown>) => Promise<T>,
  table = 'bets',
): Promise<T> {
  return await onServer(journal.url, async (client) => {
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM ${table} WHERE transaction_id = ANY ($1) FOR UPDATE`, [
      transactionIds,
    ]);
    try {
      return await use(() => client.query('COMMIT'));
    } finally {
      await client.query('COMMIT');
    }
  });
}

/** A bet whose settle its wallet has accepted, which is not recorded yet. */
async function settled(before = new Date(Date.now() + 60_000)): Promise<Outcome> {
  const bet = await stored();
  const attemptId = randomUUID();
  const busy = { operation: 'settle', attemptId, lapsed: false } as const;
  const operationId = await commit(commitOf(bet, { busy }));
  return {
    ...{ transactionId: bet.transactionId, bet: undefined, attemptId, operationId },
    confirmAfterMs: 60_000,
    attempt: ATTEMPT,
    change: {
      settlement: { kind: 'settled', amount: '20', resultType: 'won', transactionTime: AT },
      stands: true,
    },
    delivery: { kind: 'none' },
    caller: { before, lateAnswer: LATE },
  };
}

/** A place that its wallet has accepted, which is not recorded yet. */
async function placed(places: PlaceJournal) {
  const intent = {
    ...{ transactionId: randomUUID(), attemptId: randomUUID() },
    ...{ operatorId: 'alpha', playerId: journal.owner.playerId, sessionId: journal.sessionId },
    ...{ tokenHash: journal.tokenHash, amount: '12.10', currency: 'USD', generation: 1 },
    ...{ requestId: 'request-1', body: Buffer.from('{}'), notSent: undefined },
  };
  const begun = await places.begin(intent, ampleDeadline(), () => true);
  if (begun.kind !== 'begun') throw new Error(`the intent is ${begun.kind}`);
  const place = { kind: 'accepted', transactionTime: AT } as const;
  const result = { ...intent, operationId: begun.operationId, place, attempt: ATTEMPT };
  return { ...result, lateAnswer: LATE };
}

const idsOf = (of: readonly { readonly transactionId: string }[]) =>
  of.map(({ transactionId }) => transactionId);

/** Each in its own batch. */
async function oneAfterAnother<In, Out>(all: readonly In[], begin: (one: In) => Promise<Out>) {
  const begun: Promise<Out>[] = [];
  for (const one of all) {
    begun.push(begin(one));
    await turn();
    await turn();
  }
  return begun;
}

describe('a bet whose row somebody keeps locked', () => {
  it('holds up no result of any other bet, and is written when it is free (I7)', async () => {
    const locked = await Promise.all(Array.from({ length: 3 }, () => settled()));
    const free = await settled();
    const later = await whileLocked(idsOf(locked), async () => {
      const waiting = await oneAfterAnother(locked, (outcome) => bets.finish(outcome));
      expect(await bets.finish(free)).toEqual(STANDS);
      expect(await journal.state(free.transactionId)).toMatchObject({ settlement: 'settled' });
      return waiting;
    });
    expect(await Promise.all(later)).toEqual([STANDS, STANDS, STANDS]);
    for (const { transactionId } of locked) {
      const written = { busy: null, settlement: 'settled', attempts: ['accepted'] };
      expect(await journal.state(transactionId)).toMatchObject(written);
    }
  });

  it('holds up the outcome of no other place, and is written when it is free (I7)', async () => {
    const places = new PlaceJournal(journal.database, journal.clock);
    const locked = await Promise.all(Array.from({ length: 3 }, () => placed(places)));
    const free = await placed(places);
    const later = await whileLocked(idsOf(locked), async () => {
      const waiting = await oneAfterAnother(locked, (one) => places.finish(one, ampleDeadline()));
      expect(await places.finish(free, ampleDeadline())).toEqual(STANDS);
      return waiting;
    });
    expect(await Promise.all(later)).toEqual([STANDS, STANDS, STANDS]);
    for (const { transactionId } of [...locked, free]) {
      const written = { busy: null, place: 'accepted', attempts: ['accepted'] };
      expect(await journal.state(transactionId)).toMatchObject(written);
    }
  });

  it('takes no connection from other bets that something is decided on (I7)', async () => {
    const locked = await Promise.all(Array.from({ length: MANY }, () => stored()));
    const free = await stored();
    const begin = (bet: Bet) =>
      commit(
        commitOf(bet, { busy: { operation: 'settle', attemptId: randomUUID(), lapsed: false } }),
      );
    const later = await whileLocked(idsOf(locked), async () => {
      const waiting = await oneAfterAnother(locked, begin);
      expect(await begin(free)).toMatch(/^\d+$/);
      expect(await find(free)).toMatchObject({ busy: { operation: 'settle' } });
      return waiting;
    });
    for (const id of await Promise.all(later)) expect(id).toMatch(/^\d+$/);
  });

  it('takes none either where its operation was left in flight by a killed process (I7)', async () => {
    const left = await Promise.all(Array.from({ length: MANY }, () => settled()));
    for (const { transactionId } of left) {
      const lapsed = 'UPDATE bets SET busy_until = clock_timestamp() WHERE transaction_id = $1';
      await journal.sql(lapsed, [transactionId]);
    }
    const free = await stored();
    const recover = ({ transactionId, attemptId }: Outcome) =>
      bets.recover(transactionId, attemptId);
    const later = await whileLocked(idsOf(left), async () => {
      const waiting = await oneAfterAnother(left, recover);
      expect(await find(free)).toMatchObject({ version: 1 });
      return waiting;
    });
    expect(await Promise.all(later)).toEqual(left.map(() => true));
    expect(await Promise.all(left.map(recover))).toEqual(left.map(() => false));
  });

  it('keeps an outcome that had to wait for longer than its caller as one that came late (I3)', async () => {
    const before = new Date(Date.now() + 400);
    const outcome = await settled(before);
    const finished = await whileLocked([outcome.transactionId], async (letGo) => {
      const finishing = bets.finish(outcome);
      await expect.poll(() => Date.now()).toBeGreaterThan(before.getTime() + 100);
      await letGo();
      return await finishing;
    });
    expect(finished).toEqual({ kind: 'late' });
    expect((await bets.answerOf(outcome))?.answer).toEqual(LATE);
  });

  it('is named as the reason, before callers have to give up, and written later (I3)', async () => {
    const outcome = await settled();
    await whileLocked([outcome.transactionId], async () => {
      await expect(bets.finish(outcome)).rejects.toMatchObject({
        code: 'DATABASE_UNAVAILABLE',
        message: expect.stringContaining("another session keeps the bet's row locked"),
      });
    });
    const state = () => journal.state(outcome.transactionId);
    await expect.poll(state, { timeout: 10_000 }).toMatchObject({ settlement: 'settled' });
    expect((await bets.answerOf(outcome))?.answer).toEqual(LATE);
  });
});

describe('a bet of which somebody keeps a delivery locked', () => {
  /** A bet with a promised rollback. */
  async function promised(): Promise<Bet> {
    const bet = await stored();
    await commit(commitOf(bet, {}, { delivery: guard('pending') }));
    return await find(bet);
  }

  it('holds up no decision on any other bet, and is written when it is free (I7)', async () => {
    const locked = await Promise.all(Array.from({ length: 3 }, promised));
    const free = await promised();
    const begin = (bet: Bet) => {
      const supersedes = bet.deliveries.map(({ id }) => id);
      const busy = { operation: 'settle', attemptId: randomUUID(), lapsed: false } as const;
      return commit(commitOf(bet, { busy }, { supersedes }));
    };
    const hold = async () => {
      const waiting = await oneAfterAnother(locked, begin);
      expect(await begin(free)).toMatch(/^\d+$/);
      return waiting;
    };
    const later = await whileLocked(idsOf(locked), hold, 'deliveries');
    for (const id of await Promise.all(later)) expect(id).toMatch(/^\d+$/);
    for (const bet of [...locked, free]) {
      expect(await deliveriesOf(bet)).toMatchObject([{ state: 'superseded' }]);
    }
  });

  it('holds up no outcome of any other bet, and is written when it is free (I7)', async () => {
    const begun = async (): Promise<Outcome> => {
      const bet = await stored();
      const attemptId = randomUUID();
      const busy = { operation: 'rollback', attemptId, lapsed: false } as const;
      const operationId = await commit(commitOf(bet, { busy }, { delivery: guard('live') }));
      return {
        ...{ transactionId: bet.transactionId, bet: undefined, attemptId, operationId },
        confirmAfterMs: 60_000,
        attempt: ATTEMPT,
        change: { rollback: { kind: 'confirmed', transactionTime: AT }, stands: true },
        delivery: {
          ...{ kind: 'after', purpose: 'promise', promisedTime: AT, isCounted: false },
          after: { kind: 'delivered' },
        },
        caller: { before: new Date(Date.now() + 60_000), lateAnswer: LATE },
      };
    };
    const locked = await Promise.all(Array.from({ length: 3 }, begun));
    const free = await begun();
    const hold = async () => {
      const waiting = await oneAfterAnother(locked, (outcome) => bets.finish(outcome));
      expect(await bets.finish(free)).toEqual(STANDS);
      return waiting;
    };
    const later = await whileLocked(idsOf(locked), hold, 'deliveries');
    expect(await Promise.all(later)).toEqual([STANDS, STANDS, STANDS]);
    for (const { transactionId } of [...locked, free]) {
      expect(await journal.state(transactionId)).toMatchObject({ rollback: 'confirmed' });
    }
  });
});
