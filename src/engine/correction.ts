import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../domain/errors.ts';
import type { Finished } from '../store/bets/journal.ts';
import type { Attempt, Concluded } from './attempt.ts';
import type { Engine } from './context.ts';

/** A write whose fate is unknown may land until PostgreSQL has ended its statement. */
const CORRECT_AFTER_MS = [0, 1_000, 10_000, 60_000, 300_000];

/**
 * The service was answered `lateAnswer` while the outcome was on its way to the journal, where it
 * may stand with another answer. What counts is what was told (I3): the record is put right.
 * @param finished the write whose end was not awaited
 * @returns never rejects; gives up, loudly, after some minutes without PostgreSQL
 */
export async function correctAnswer<C extends Concluded>(
  engine: Engine,
  attempt: Attempt<C>,
  { lateAnswer, promisedTime }: C,
  finished: Promise<Finished>,
): Promise<void> {
  const { transactionId, attemptId, operation } = attempt;
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
