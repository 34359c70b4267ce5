import { setTimeout as sleep } from 'node:timers/promises';
import type { Bet } from '../domain/bet.ts';
import { GatewayError } from '../domain/errors.ts';
import type { BetOperation } from '../domain/operation.ts';
import type { Answer } from '../protocol/answers.ts';
import type { Finished } from '../store/bets/outcome.ts';
import type { Engine } from './context.ts';

/** A write whose fate is unknown may land until PostgreSQL has ended its statement. */
const CORRECT_AFTER_MS = [0, 1_000, 10_000, 60_000, 300_000];

/** An attempt whose caller was given another answer than its outcome says. */
export interface AnsweredOtherwise {
  readonly transactionId: string;
  readonly attemptId: string;
  readonly operation: BetOperation;
  /** What the service was answered. */
  readonly lateAnswer: Answer;
  /** Of a rollback: the time that its promise was answered with. */
  readonly promisedTime?: string | undefined;
  /** Of an update that its wallet has accepted: which it is, with the time that its promise was answered with. */
  readonly update?: Bet['update'];
}

/**
 * The service was answered `lateAnswer` while the outcome was being written to the journal, where it
 * may stand with another answer. What counts is what was answered (I3): the record is corrected.
 * @param finished the write whose end was not awaited
 * @returns never rejects; gives up, loudly, after some minutes without PostgreSQL
 */
export async function correctAnswer(
  engine: Engine,
  answered: AnsweredOtherwise,
  finished: Promise<Finished>,
): Promise<void> {
  const { transactionId, attemptId, operation, lateAnswer, promisedTime, update } = answered;
  const certain = await finished.then(
    ({ kind }) => kind,
    () => undefined,
  );
  // Recorded as answered late, or not at all.
  if (certain === 'late' || certain === 'lost') return;
  const correction = {
    transactionId,
    attemptId,
    ...lateAnswer,
    placeAnsweredUnknown: operation === 'place',
    rollbackTime: operation === 'rollback' ? promisedTime : undefined,
    update,
  };
  for (const afterMs of CORRECT_AFTER_MS) {
    await sleep(afterMs, undefined, { ref: false });
    try {
      await engine.bets.correctAnswer(correction);
      if (certain !== undefined) return;
    } catch (error) {
      if (!(error instanceof GatewayError)) {
        engine.logger.error({ err: error, transactionId, operation }, 'bet.answer_not_corrected');
        return;
      }
    }
  }
  const facts = { transactionId, operation, status: lateAnswer.status };
  engine.logger.warn(facts, 'bet.answer_correction_ended');
}
