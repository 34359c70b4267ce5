import { describe, expect, it, vi } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { Deadline } from '../../../src/domain/deadline.ts';
import { GatewayError } from '../../../src/domain/errors.ts';
import { BetCallback } from '../../../src/operations/bet-callback.ts';
import type { Callbacks } from '../../../src/operations/callbacks.ts';
import { commitInTime, recordOf, takeOver } from '../../../src/operations/commit.ts';
import { failure } from '../../../src/protocol/answers.ts';
import type { RollbackRequest } from '../../../src/protocol/messages.ts';
import type { Commit, Committed, NewDelivery } from '../../../src/store/bets/commit.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { bet, message } from '../../protocol/support/bet-messages.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';
import { useTestWaits } from '../../support/test-waits.ts';

/** Commits for a waiting caller, with parts that behave as the test says. */

useTestWaits();

const ID = 'b26153f9';
const AT = '2026-01-02T03:04:05.000Z';
const STORED = Buffer.from('as it is kept');
const UNAVAILABLE = failure(100, 'System error', 503);
const COMMITTED: Committed = { kind: 'committed', operationId: '7' };
const away = new GatewayError('DATABASE_UNAVAILABLE', 'away');

function rollbackOf(commit: (commit: Commit, deadline: Deadline) => Promise<Committed>) {
  const parts = {
    commit: vi.fn(commit),
    correctAnswer: vi.fn(async (_: unknown): Promise<void> => undefined),
  };
  const logger = { error: vi.fn(), warn: vi.fn() };
  const gateway = { delivery: { horizonHours: 1 } };
  const configuration = () => ({ gateway, operators: new Map() });
  const callbacks = partly<Callbacks>({ bets: parts, logger, configuration });
  // 1000 ms in all, the last 50 of which are for sending the answer.
  const deadline = new Deadline(new TestClock(), 1_000, 1_000, 300);
  const asked = message(bet('rollback', { requestId: '"r1"' }));
  return {
    callback: new BetCallback<RollbackRequest>(callbacks, partly(asked), STORED, deadline),
    callbacks,
    deadline,
    ...parts,
    logger,
  };
}

const COMMIT = partly<Commit>({ from: FRESH });

describe('a decision that is committed while its caller waits', () => {
  it('begins what it decides, in time by PostgreSQL’s clock (I3)', async () => {
    const { callbacks, deadline, commit } = rollbackOf(async () => COMMITTED);
    const begun = await commitInTime(callbacks, deadline, COMMIT);
    expect(begun).toMatchObject({ kind: 'begun', operationId: '7', bet: { version: 2 } });
    expect(commit.mock.calls).toEqual([[COMMIT, deadline]]);
  });

  it('is made again if the bet has moved (I6)', async () => {
    const { callbacks, deadline } = rollbackOf(async () => ({ kind: 'moved' }));
    expect(await commitInTime(callbacks, deadline, COMMIT)).toEqual({ kind: 'moved' });
  });

  it('does not exist if its caller’s time was over (I11)', async () => {
    const { callbacks, deadline } = rollbackOf(async () => ({ kind: 'tooLate' }));
    const committed = commitInTime(callbacks, deadline, COMMIT);
    await expect(committed).rejects.toMatchObject({ name: 'OutOfTime' });
  });
});

describe('an operation that is not sent now', () => {
  const to: Bet = { ...FRESH, rollback: { kind: 'promised', transactionTime: AT } };
  const NEXT = { from: FRESH, to, transactionTime: AT, supersedes: ['3'] };
  const PROMISE: NewDelivery = {
    ...{ operation: 'rollback', state: 'pending', transactionTime: AT },
    horizonMs: 3_600_000,
  };
  const SUCCESS = { status: 200, body: `{"transactionId":"${ID}","transactionTime":"${AT}"}` };
  const slowly = (afterMs: number, end: () => Committed) =>
    new Promise<Committed>((resolve, reject) => {
      setTimeout(() => {
        try {
          resolve(end());
        } catch (error) {
          reject(error);
        }
      }, afterMs);
    });

  it('is committed with its promise before it is answered 200 (I3, I4)', async () => {
    const { callback, commit, deadline, correctAnswer } = rollbackOf(async () => COMMITTED);
    expect(await takeOver(callback, NEXT)).toEqual({
      ...{ answer: SUCCESS, outcome: 'taken_over', operatorId: 'alpha', detail: {} },
    });
    const record = {
      ...{ operation: 'rollback', attemptId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      ...{ requestId: 'r1', body: STORED, answer: SUCCESS },
    };
    const committed = { from: FRESH, to, record, delivery: PROMISE, supersedes: ['3'] };
    expect(commit.mock.calls).toEqual([[committed, deadline]]);
    expect(correctAnswer).not.toHaveBeenCalled();
  });

  it('is not answered 200 where PostgreSQL fails (I4)', async () => {
    const { callback, correctAnswer } = rollbackOf(() => Promise.reject(away));
    await expect(takeOver(callback, NEXT)).rejects.toBe(away);
    expect(correctAnswer).not.toHaveBeenCalled();
  });

  it('promises nothing once nobody waits any more (I11)', async () => {
    const { callback, commit, deadline } = rollbackOf(async () => COMMITTED);
    deadline.end();
    const answered = takeOver(callback, NEXT);
    await expect(answered).rejects.toMatchObject({ name: 'OutOfTime' });
    expect(commit).not.toHaveBeenCalled();
  });

  /** Commits, or fails, after the caller's deadline; lets all the time pass. */
  async function late(end: () => Committed, corrections: readonly Error[] = []) {
    const parts = rollbackOf(() => slowly(960, end));
    for (const error of corrections) parts.correctAnswer.mockRejectedValueOnce(error);
    const answered = takeOver(parts.callback, NEXT);
    const told = expect(answered).rejects.toMatchObject({
      ...{ name: 'OutOfTime', message: 'gave up after 950 ms' },
    });
    await vi.advanceTimersByTimeAsync(400_000);
    await told;
    return parts;
  }

  it('is recorded with the answer that was sent if it is committed late: 503 (I3)', async () => {
    const { correctAnswer, commit } = await late(() => COMMITTED);
    const attemptId = commit.mock.calls[0]?.[0].record.attemptId;
    expect(correctAnswer.mock.calls).toEqual([
      [
        {
          ...{ transactionId: ID, attemptId, operation: 'rollback', lateAnswer: UNAVAILABLE },
        },
      ],
    ]);
  });

  it('is recorded so even if PostgreSQL is away just then: nothing breaks (I3)', async () => {
    const { correctAnswer, logger } = await late(() => COMMITTED, [away, away]);
    expect(correctAnswer).toHaveBeenCalledTimes(3);
    expect([logger.warn, logger.error].flatMap(({ mock }) => mock.calls)).toEqual([]);
  });
});

describe('the record of an operation', () => {
  it('contains its storable request, its attempt and its answer', () => {
    const { callback } = rollbackOf(async () => COMMITTED);
    expect(recordOf(callback, 'a', UNAVAILABLE)).toEqual({
      ...{ operation: 'rollback', attemptId: 'a', requestId: 'r1', body: STORED },
      answer: UNAVAILABLE,
    });
  });
});
