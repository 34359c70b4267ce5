import { setTimeout as sleep } from 'node:timers/promises';
import type { Bet } from '../domain/bet.ts';
import type { Conclusion } from '../domain/conclude.ts';
import type { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import type { BetOperation } from '../domain/operation.ts';
import { type BetAnswer, notSent } from '../domain/wallet-answer.ts';
import { OutOfTime, within } from '../lib/within.ts';
import type { Answer } from '../protocol/answers.ts';
import { type AttemptRecord, attemptOf } from '../store/bets/attempt-record.ts';
import type { Finished } from '../store/bets/outcome.ts';
import { correctAnswer } from './correction.ts';
import type { Engine } from './engine.ts';
import { type Sending, SendPermit } from './send-permit.ts';
import { countUnknown } from './unknown-outcome.ts';

/** The interpretation of a wallet's answer: what it means for the bet, and the answer to the service. */
export interface Concluded {
  readonly conclusion: Conclusion;
  /** The service's answer once the outcome is committed. */
  readonly answer: Answer;
  /** The service's answer if the outcome is not committed in time: 100, 503, or the promise. */
  readonly lateAnswer: Answer;
  /** The `transactionTime` in the promise's answer. */
  readonly promisedTime?: string;
}

/**
 * One attempt at sending an operation to its wallet. The engine defines the order of the steps and the guarantees
 * between them; the operation supplies the steps.
 */
export interface Attempt<C extends Concluded> {
  readonly transactionId: string;
  /** Identifies this attempt in the bet's row: only the attempt recorded there may send or finish (I6). */
  readonly attemptId: string;
  readonly operatorId: string;
  readonly operation: BetOperation;
  /** The waiting caller's deadline; undefined for a delivery, for whose outcome nobody waits. */
  readonly deadline: Deadline | undefined;
  /** Calls the wallet at most once. Never rejects. */
  readonly call: (sending: Sending) => Promise<BetAnswer>;
  readonly conclude: (sent: BetAnswer) => C;
  /** Writes the outcome and frees the bet. */
  readonly finish: (operationId: string, concluded: C, record: AttemptRecord) => Promise<Finished>;
}

export interface AttemptResult<C> {
  readonly kind: 'attempted';
  readonly sent: BetAnswer;
  readonly concluded: C;
  /** Whether the outcome was committed in time, so that `concluded.answer` may be sent. */
  readonly committedInTime: boolean;
}

export type Begun = { readonly kind: 'begun'; readonly operationId: string };

/**
 * Sends an operation to its wallet once: write first, send second, acknowledge third (I3).
 * @param begin commits the intent; anything but `begun` ends the attempt with nothing sent
 * @param beginWithinMs how long the caller can wait for that
 * @throws GatewayError, OutOfTime if the intent could not be committed in time: nothing was sent, and
 *   an intent that turns out to be committed late is withdrawn
 */
export async function runAttempt<C extends Concluded, Refused extends { readonly kind: string }>(
  engine: Engine,
  attempt: Attempt<C>,
  begin: () => Promise<Begun | Refused>,
  beginWithinMs: number,
): Promise<AttemptResult<C> | Refused> {
  const permit = new SendPermit(engine.clock);
  const beginOrTakeBack = async () => {
    try {
      return await begin();
    } catch (error) {
      // Its statement may have been committed, with only the reply lost.
      if (error instanceof GatewayError) void takeBack(engine, attempt);
      throw error;
    }
  };
  const begun = await inTime(beginWithinMs, beginOrTakeBack, (late) =>
    isBegun(late) ? release(engine, attempt, late.operationId) : undefined,
  );
  if (!isBegun(begun)) return begun;
  const tried = await tryOnce(engine, attempt, begun.operationId, permit);
  return await record(engine, tried);
}

/** An attempt after its call: concluded, but not recorded yet. */
export interface Tried<C extends Concluded> {
  readonly attempt: Attempt<C>;
  readonly operationId: string;
  readonly startedAtMs: number;
  readonly sent: BetAnswer;
  readonly concluded: C;
}

/**
 * Calls the wallet and interprets its answer.
 * @param permit created before the intent was committed or the delivery claimed
 */
export async function tryOnce<C extends Concluded>(
  engine: Engine,
  attempt: Attempt<C>,
  operationId: string,
  permit: SendPermit,
): Promise<Tried<C>> {
  const startedAtMs = engine.clock.nowMs();
  const sent = await attempt.call(permit.sending);
  return { attempt, operationId, startedAtMs, sent, concluded: attempt.conclude(sent) };
}

/** Records the outcome of an attempt and wakes operations that wait for the bet. Never rejects. */
export async function record<C extends Concluded>(
  engine: Engine,
  { attempt, operationId, startedAtMs, sent, concluded }: Tried<C>,
): Promise<AttemptResult<C>> {
  const { transactionId, operation, operatorId, deadline } = attempt;
  if (concluded.conclusion.outcome === 'unknown') countUnknown(engine, operatorId, operation);
  const answer = deadline === undefined ? undefined : concluded.answer;
  const finished = attempt.finish(operationId, concluded, attemptOf(sent, startedAtMs, answer));
  let committedInTime = false;
  try {
    // If the caller has disconnected, the outcome is recorded as late, however long that takes.
    const { kind } = await (deadline === undefined || deadline.hasEnded
      ? finished
      : within(deadline.answerMs(), finished));
    committedInTime = kind === 'committed';
  } catch (error) {
    engine.logger.error(
      { err: error, operator: operatorId, operation, transactionId },
      'bet.outcome_not_recorded',
    );
    // The write may still take effect, and would record an answer that was not sent.
    if (deadline !== undefined) {
      const { lateAnswer, promisedTime } = concluded;
      const { attemptId } = attempt;
      const update = promisedUpdate(concluded);
      const answered = { transactionId, attemptId, operation, lateAnswer, promisedTime, update };
      void correctAnswer(engine, answered, finished);
    }
  } finally {
    engine.changes.changed(transactionId);
  }
  return { kind: 'attempted', sent, concluded, committedInTime };
}

/** An update that its wallet has accepted, with the time of the promise in the service's answer. */
function promisedUpdate({ conclusion, promisedTime }: Concluded): Bet['update'] {
  const { update } = conclusion.change;
  if (conclusion.outcome !== 'accepted' || promisedTime === undefined) return undefined;
  return update && { ...update, transactionTime: promisedTime };
}

/**
 * Pauses before each look-up of an intent whose commit was not reported: its statement may still be running, or
 * PostgreSQL may be down. Until the intent is found, its lease blocks the bet, and the bet's promises wait.
 */
const LOOK_AFTER_MS = [0, 1_000, 2_000, 2_000, 4_000];

/** Frees the bet of an intent whose commit was not reported, if it was committed. Never rejects. */
async function takeBack<C extends Concluded>(engine: Engine, attempt: Attempt<C>): Promise<void> {
  let failure: unknown;
  for (const afterMs of LOOK_AFTER_MS) {
    await sleep(afterMs, undefined, { ref: false });
    try {
      const operationId = await engine.bets.operationIdOf(attempt);
      if (operationId !== undefined) return await release(engine, attempt, operationId);
      failure = undefined;
    } catch (error) {
      failure = error;
    }
  }
  if (failure === undefined) return;
  // If it was committed after all, its lease will end, and the sweep will mark its outcome unknown.
  const { transactionId, operation } = attempt;
  engine.logger.warn({ err: failure, transactionId, operation }, 'bet.late_intent_not_looked_for');
}

/** Frees the bet of an intent that was committed after its caller gave up, and therefore never sent (I11). */
async function release<C extends Concluded>(
  engine: Engine,
  attempt: Attempt<C>,
  operationId: string,
): Promise<void> {
  const sent = notSent('database', 'the intent was committed too late');
  const concluded = attempt.conclude(sent);
  try {
    const attempted = attemptOf(sent, engine.clock.nowMs(), concluded.lateAnswer);
    await attempt.finish(operationId, concluded, attempted);
  } catch (error) {
    // Its lease will end, and the sweep will mark its outcome unknown: less precise, but safe.
    const { transactionId, operation } = attempt;
    engine.logger.warn({ err: error, transactionId, operation }, 'bet.late_intent_not_released');
  } finally {
    engine.changes.changed(attempt.transactionId);
  }
}

/**
 * Runs work that must not begin once the time is over, and waits for it as long as there is time.
 * @param onLate receives the result if the work ends after the caller has given up; must not reject
 * @throws OutOfTime if the time is over, before the work or while it runs; whatever `work` throws
 */
export async function inTime<T>(
  limitMs: number,
  work: () => Promise<T>,
  onLate: (late: T) => Promise<void> | undefined,
): Promise<T> {
  if (limitMs <= 0) throw new OutOfTime(0);
  const working = work();
  try {
    return await within(limitMs, working);
  } catch (error) {
    // A failure after that needs no handling: nothing was begun, and nobody waits for it.
    if (error instanceof OutOfTime) working.then(onLate, () => undefined);
    throw error;
  }
}

function isBegun<Refused extends { readonly kind: string }>(
  value: Begun | Refused,
): value is Begun {
  return value.kind === 'begun';
}
