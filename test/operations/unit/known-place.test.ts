import { describe, expect, it, vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { answerKnownPlace } from '../../../src/operations/known-place.ts';
import { failure } from '../../../src/protocol/answers.ts';
import type { PlaceRequest } from '../../../src/protocol/messages.ts';
import type { Session, SessionLookup } from '../../../src/sessions/session.ts';
import type { Commit } from '../../../src/store/bets/commit.ts';
import { FRESH, PLACE } from '../../domain/support/fresh-bet.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

/** The rules, with parts that behave as the test says; other files test them over HTTP. */

const AT = '2026-01-02T03:04:05.000Z';
const MESSAGE = partly<PlaceRequest>({
  ...{ ...PLACE, operation: 'place', transactionId: 'bet', token: '5caa4cabce' },
});
const STORED = Buffer.from('raw');
const SESSION = partly<Session>({ sessionId: '5', owner: { ...FRESH.owner, operatorId: 'beta' } });
const ACCEPTED: Bet = { ...FRESH, place: { kind: 'accepted', transactionTime: AT } };
const UNSEEN: Bet = { ...FRESH, owner: undefined, place: { kind: 'unseen' } };
const deadline = new Deadline(new TestClock(), 1_000, 60_000, 300);

/** The bet as each look finds it; later looks find the last one. */
function callbacksOf(...looks: readonly (Bet | undefined)[]) {
  const left = [...looks];
  const commits: Commit[] = [];
  const [duplicates, conflicts, rejected, warn] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
  const next = vi.fn(async (_id: string, _deadline: Deadline, _turn: number) => true);
  const commit = vi.fn(async (one: Commit): Promise<object> => {
    commits.push(one);
    return { kind: 'committed', operationId: '1' };
  });
  const findCertain = vi.fn(
    async (): Promise<SessionLookup> => ({
      kind: 'live',
      session: SESSION,
    }),
  );
  const callbacks = partly<Callbacks>({
    sessions: { findCertain },
    bets: {
      find: async () => (left.length > 1 ? left.shift() : left[0]),
      ...{ commit, operationsOf: async () => [], hasPlace: async () => true },
    },
    changes: { next },
    metrics: {
      ...{ duplicates: { inc: duplicates }, conflicts: { inc: conflicts } },
      rejected: { inc: rejected },
    },
    logger: { warn },
    // Its file is gone, so nothing can be sent.
    wallets: { get: () => undefined },
    configuration: () => ({ operators: new Map() }),
  });
  return { callbacks, findCertain, commits, commit, next, duplicates, conflicts, rejected, warn };
}

const answer = (callbacks: Callbacks, session?: Session) =>
  answerKnownPlace({ callbacks, message: MESSAGE, stored: STORED, deadline }, session);

describe('a place whose bet is known', () => {
  it('gets its success again, and is counted (I3)', async () => {
    const { callbacks, duplicates } = callbacksOf(ACCEPTED);
    expect(await answer(callbacks)).toEqual({
      answer: { status: 200, body: `{"transactionId":"bet","transactionTime":"${AT}"}` },
      outcome: 'duplicate',
      operatorId: 'alpha',
    });
    const labels = { operator: 'alpha', operation: 'place', source: 'journal' };
    expect(duplicates.mock.calls).toEqual([[labels]]);
  });

  it('gets its refusal again, also of a bet that nobody owns (I3)', async () => {
    const place = { kind: 'declined', code: 7, message: 'No money' } as const;
    const { callbacks, duplicates } = callbacksOf({ ...FRESH, owner: undefined, place });
    expect(await answer(callbacks)).toEqual({
      answer: failure(7, 'No money'),
      outcome: 'duplicate',
      operatorId: undefined,
    });
    expect(duplicates.mock.calls[0]?.[0]).toMatchObject({ operator: 'unknown' });
  });

  it('waits for its twin in flight, each time a little longer, and says where it joined', async () => {
    const { callbacks, next, duplicates } = callbacksOf(FRESH, FRESH, ACCEPTED);
    expect(await answer(callbacks)).toMatchObject({ answer: { status: 200 } });
    expect(next.mock.calls).toEqual([
      ['bet', deadline, 0],
      ['bet', deadline, 1],
    ]);
    expect(duplicates.mock.calls[0]?.[0]).toMatchObject({ source: 'in_flight' });
  });

  it('is answered 100 when its time ends while it waits (I1)', async () => {
    const { callbacks, next } = callbacksOf(FRESH);
    next.mockResolvedValue(false);
    expect(await answer(callbacks)).toEqual({
      answer: failure(100, 'System error'),
      outcome: 'unknown',
      operatorId: 'alpha',
      detail: { reason: 'deadline' },
    });
  });

  it('is a conflict with another stake: counted, logged, never sent (I10)', async () => {
    const { callbacks, conflicts, warn } = callbacksOf({ ...ACCEPTED, amount: '11' });
    const why = 'the bet is known with another amount';
    expect(await answer(callbacks, SESSION)).toEqual({
      answer: failure(5, `transactionId: ${why}`),
      outcome: 'conflict',
      operatorId: 'alpha',
      detail: { code: 5 },
    });
    expect(conflicts.mock.calls).toEqual([[{ operator: 'alpha' }]]);
    const facts = { operator: 'alpha', operation: 'place', transactionId: 'bet', why };
    expect(warn.mock.calls).toEqual([[facts, 'bet.conflict']]);
    const nobodys = callbacksOf({ ...ACCEPTED, owner: undefined, amount: '11' });
    await answer(nobodys.callbacks);
    expect(nobodys.conflicts.mock.calls).toEqual([[{ operator: 'unknown' }]]);
  });

  it('is refused once the bet is rolled back (I6)', async () => {
    const rollback = { kind: 'promised', transactionTime: AT } as const;
    const { callbacks } = callbacksOf({ ...ACCEPTED, rollback });
    expect(await answer(callbacks, SESSION)).toEqual({
      answer: failure(8, 'The bet is rolled back'),
      outcome: 'declined',
      operatorId: 'alpha',
      detail: { code: 8 },
    });
  });
});

describe('a place of a bet known only from later operations, of an operator without a wallet', () => {
  it('is recorded as never sent, counted, and answered 100 (I3)', async () => {
    const { callbacks, commits, rejected } = callbacksOf(UNSEEN);
    expect(await answer(callbacks, SESSION)).toEqual({
      answer: failure(100, 'System error'),
      outcome: 'not_sent',
      operatorId: 'beta',
      detail: { reason: 'maintenance' },
    });
    expect(commits).toMatchObject([
      {
        from: UNSEEN,
        to: {
          ...{ transactionId: 'bet', owner: SESSION.owner, sessionId: '5' },
          ...{ amount: '10', currency: 'USD', place: { kind: 'notSent' } },
        },
        record: { operation: 'place', body: STORED, answer: failure(100, 'System error') },
        supersedes: [],
      },
    ]);
    expect([commits[0]?.to.busy, commits[0]?.delivery]).toEqual([undefined, undefined]);
    expect(rejected.mock.calls).toEqual([[{ operator: 'beta', reason: 'maintenance' }]]);
  });
});
