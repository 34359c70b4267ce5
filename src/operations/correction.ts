import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../domain/errors.ts';
import type { AnsweredOtherwise } from '../domain/finish.ts';
import type { Answer } from '../protocol/answers.ts';
import type { Finished } from '../store/bets/outcome.ts';
import type { Engine } from './engine.ts';

/** Repeated, because a write of unknown result may take effect until PostgreSQL ends its statement. */
const CORRECT_AFTER_MS = [0, 1_000, 10_000, 60_000, 300_000];

/** An attempt whose caller got another answer than its outcome says. */
export interface Corrected extends AnsweredOtherwise {
  readonly transactionId: string;
  readonly attemptId: string;
  /** The answer that was sent. */
  readonly lateAnswer: Answer;
}

/**
 * The answer that was sent counts (I3), so the record is corrected. Never rejects; gives up with a warning after some
 * minutes without PostgreSQL.
 * @param finished the write that was not awaited
 */
export async function correctAnswer(
  engine: Engine,
  answered: Corrected,
  finished: Promise<Finished>,
): Promise<void> {
  const { transactionId, operation, lateAnswer } = answered;
  const certain = await finished.then(
    ({ kind }) => kind,
    () => undefined,
  );
  // Recorded as late, or not at all.
  if (certain === 'late' || certain === 'lost') return;
  for (const afterMs of CORRECT_AFTER_MS) {
    await sleep(afterMs, undefined, { ref: false });
    try {
      await engine.bets.correctAnswer(answered);
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
