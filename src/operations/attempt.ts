import { setTimeout as sleep } from 'node:timers/promises';
import type { Bet } from '../domain/bet.ts';
import type { Clock } from '../domain/clock.ts';
import type { Conclusion } from '../domain/conclude.ts';
import type { Deadline } from '../domain/deadline.ts';
import { GatewayError } from '../domain/errors.ts';
import type { BetOperation } from '../domain/operation.ts';
import { type BetAnswer, notSent } from '../domain/wallet-answer.ts';
import { OutOfTime, within } from '../lib/within.ts';
import type { Answer } from '../protocol/answers.ts';
import { type AttemptRecord, attemptOf } from '../store/bets/attempt-record.ts';
import type { DeliveryOutcome, Finished } from '../store/bets/outcome.ts';
import { correctAnswer } from './correction.ts';
import type { Engine } from './engine.ts';
import { countUnknown } from './find-bet.ts';
import { deliverySettings } from './operator-settings.ts';

/** What a wallet's answer means for the bet, for the delivery and for the service. */
export interface Concluded {
  readonly conclusion: Conclusion;
  readonly delivery: DeliveryOutcome;
  /** The service's answer once the outcome is committed. */
  readonly answer: Answer;
  /** The service's answer if the outcome is not committed in time: 100, 503, or the promise. */
  readonly lateAnswer: Answer;
  /** The `transactionTime` in the promise's answer. */
  readonly promisedTime?: string;
}

/** Older attempts are not sent: their lease, 15 s on PostgreSQL's clock, has to outlast the call and its commit. */
const SEND_WITHIN_MS = 5_000;

/** Called at the moment a connection takes the request. */
export type Sending = { readonly maySend: () => boolean };

/** Checks the lease when sending, by both clocks: a paused machine may show only on the wall clock. */
export class SendPermit {
  readonly sending: Sending;

  /** Create it before requesting the lease: the machine may be paused in between. */
  constructor(clock: Clock) {
    const begunAtMs = clock.monotonicMs();
    const wallAtMs = clock.nowMs();
    this.sending = {
      maySend: () =>
        clock.monotonicMs() - begunAtMs < SEND_WITHIN_MS &&
        clock.nowMs() - wallAtMs < SEND_WITHIN_MS,
    };
  }
}

/** One attempt at an operation. The engine defines the order of the steps; the operation supplies them. */
export interface Attempt {
  readonly transactionId: string;
  /** Only the attempt recorded in the bet's row under this id may send or finish (I6). */
  readonly attemptId: string;
  readonly operatorId: string;
  readonly operation: BetOperation;
  /** The waiting caller's; undefined for a delivery. */
  readonly deadline: Deadline | undefined;
  /** Calls the wallet at most once. Never rejects. */
  readonly call: (sending: Sending) => Promise<BetAnswer>;
  readonly conclude: (sent: BetAnswer) => Concluded;
  /** Writes the outcome of a bet's first place, which has its own statement. Default: that of all other operations. */
  readonly finish?: (
    operationId: string,
    sent: BetAnswer,
    record: AttemptRecord,
  ) => Promise<Finished>;
}

export interface AttemptResult {
  readonly kind: 'attempted';
  readonly sent: BetAnswer;
  readonly concluded: Concluded;
  /** Whether the outcome was committed in time, so that `concluded.answer` may be sent. */
  readonly committedInTime: boolean;
}

export interface Begun {
  readonly kind: 'begun';
  readonly operationId: string;
  /** As the intent wrote it; undefined: not known. */
  readonly bet?: Bet | undefined;
}

/**
 * Sends an operation to its wallet once: write first, send second, acknowledge third (I3).
 * @param begin commits the intent; anything but `begun` ends the attempt with nothing sent
 * @param beginWithinMs how long the caller can wait for that
 * @throws GatewayError, OutOfTime if the intent was not committed in time: nothing was sent, and a late intent is
 *   withdrawn
 */
export async function runAttempt<Refused extends { readonly kind: string }>(
  engine: Engine,
  attempt: Attempt,
  begin: () => Promise<Begun | Refused>,
  beginWithinMs: number,
): Promise<AttemptResult | Refused> {
  const permit = new SendPermit(engine.clock);
  const beginOrTakeBack = async () => {
    try {
      return await begin();
    } catch (error) {
      // The intent may have been committed and only the reply lost.
      if (error instanceof GatewayError) void takeBack(engine, attempt);
      throw error;
    }
  };
  const begun = await engine.liveCalls.begin(() =>
    inTime(beginWithinMs, beginOrTakeBack, (late) =>
      isBegun(late) ? release(engine, attempt, late) : undefined,
    ),
  );
  if (!isBegun(begun)) return begun;
  const tried = await tryOnce(engine, attempt, begun, permit);
  return await record(engine, tried);
}

/** An attempt after its call, not recorded yet. */
export interface Tried {
  readonly attempt: Attempt;
  readonly begun: Omit<Begun, 'kind'>;
  readonly startedAtMs: number;
  readonly sent: BetAnswer;
  readonly concluded: Concluded;
}

/** Calls the wallet and interprets its answer. @param permit created before the intent's commit or the claim */
export async function tryOnce(
  engine: Engine,
  attempt: Attempt,
  begun: Tried['begun'],
  permit: SendPermit,
): Promise<Tried> {
  const startedAtMs = engine.clock.nowMs();
  const sent = await attempt.call(permit.sending);
  return { attempt, begun, startedAtMs, sent, concluded: attempt.conclude(sent) };
}

/** Records the outcome of an attempt and wakes operations that wait for the bet. Never rejects. */
export async function record(engine: Engine, tried: Tried): Promise<AttemptResult> {
  const { attempt, startedAtMs, sent, concluded } = tried;
  const { transactionId, operation, operatorId, deadline } = attempt;
  if (concluded.conclusion.outcome === 'unknown') countUnknown(engine, operatorId, operation);
  const answer = deadline === undefined ? undefined : concluded.answer;
  const finished = finish(engine, tried, attemptOf(sent, startedAtMs, answer));
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
    // The write may still take effect, with an answer that was not sent.
    if (deadline !== undefined) {
      const { attemptId } = attempt;
      const answered = { transactionId, attemptId, operation, ...concluded };
      void correctAnswer(engine, answered, finished);
    }
  } finally {
    engine.changes.changed(transactionId);
  }
  return { kind: 'attempted', sent, concluded, committedInTime };
}

/** Writes the outcomes of an attempt and its delivery in time for a waiting caller, and frees the bet. */
async function finish(
  { bets, configuration }: Engine,
  { attempt, begun, sent, concluded }: Omit<Tried, 'startedAtMs'>,
  record: AttemptRecord,
): Promise<Finished> {
  const { operationId, bet } = begun;
  if (attempt.finish !== undefined) return await attempt.finish(operationId, sent, record);
  const { transactionId, attemptId, operatorId, deadline } = attempt;
  const { conclusion, delivery, lateAnswer } = concluded;
  return await bets.finish({
    transactionId,
    bet,
    attemptId,
    operationId,
    attempt: record,
    change: conclusion.change,
    confirmAfterMs: deliverySettings(configuration(), operatorId).confirmUnknownAfterMs,
    delivery,
    caller: deadline && { before: await bets.limitOf(deadline), lateAnswer },
  });
}

/** Pauses before each look-up of an intent that may still be committed: until then its lease blocks the bet. */
const LOOK_AFTER_MS = [0, 1_000, 2_000, 2_000, 4_000];

/** Frees the bet of an intent whose commit was not reported, if it was committed. Never rejects. */
async function takeBack(engine: Engine, attempt: Attempt): Promise<void> {
  let failure: unknown;
  for (const afterMs of LOOK_AFTER_MS) {
    await sleep(afterMs, undefined, { ref: false });
    try {
      const operationId = await engine.bets.operationIdOf(attempt);
      if (operationId !== undefined) return await release(engine, attempt, { operationId });
      failure = undefined;
    } catch (error) {
      failure = error;
    }
  }
  if (failure === undefined) return;
  // If it was committed after all, its lease ends and the sweep marks its outcome unknown.
  const { transactionId, operation } = attempt;
  engine.logger.warn({ err: failure, transactionId, operation }, 'bet.late_intent_not_looked_for');
}

/** Frees the bet of an intent that was committed too late for its caller, and never sent (I11). */
async function release(engine: Engine, attempt: Attempt, begun: Tried['begun']): Promise<void> {
  const sent = notSent('database', 'the intent was committed too late');
  const concluded = attempt.conclude(sent);
  try {
    const attempted = attemptOf(sent, engine.clock.nowMs(), concluded.lateAnswer);
    await finish(engine, { attempt, begun, sent, concluded }, attempted);
  } catch (error) {
    // Its lease ends and the sweep marks its outcome unknown: less precise, but safe.
    const { transactionId, operation } = attempt;
    engine.logger.warn({ err: error, transactionId, operation }, 'bet.late_intent_not_released');
  } finally {
    engine.changes.changed(attempt.transactionId);
  }
}

/**
 * Runs work within the remaining time; with none left, it does not begin.
 * @param onLate receives a result that comes too late; must not reject. Default: ignored, what is written stays true
 * @throws OutOfTime if the time is over before or during the work; whatever `work` throws
 */
export async function inTime<T>(
  limitMs: number,
  work: () => Promise<T>,
  onLate: (late: T) => Promise<void> | undefined = () => undefined,
): Promise<T> {
  if (limitMs <= 0) throw new OutOfTime(0);
  const working = work();
  try {
    return await within(limitMs, working);
  } catch (error) {
    // A later failure needs no handling: nothing was begun, and nobody waits.
    if (error instanceof OutOfTime) working.then(onLate, () => undefined);
    throw error;
  }
}

function isBegun<Refused extends { readonly kind: string }>(
  value: Begun | Refused,
): value is Begun {
  return value.kind === 'begun';
}
