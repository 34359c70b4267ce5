import { CODES } from '../domain/codes.ts';
import type { BetOperation } from '../domain/operation.ts';
import type { Answer } from '../protocol/answers.ts';
import { refused } from './answers.ts';
import type { Callbacks } from './callbacks.ts';
import type { Handled } from './handled.ts';

/** The answered operation, and its operator if known. */
interface Answered {
  readonly operation: BetOperation;
  readonly operatorId: string | undefined;
}

/** Repeats a recorded answer; counted by the source of the answer. */
export function answerDuplicate(
  { metrics }: Pick<Callbacks, 'metrics'>,
  { operation, operatorId }: Answered,
  source: 'in_flight' | 'journal' | 'redis',
  answer: Answer,
): Handled {
  metrics.duplicates.inc({ operator: operatorId ?? 'unknown', operation, source });
  return { answer, outcome: 'duplicate', operatorId };
}

/** Refuses an operation that contradicts the record (I10). */
export function answerConflict(
  callbacks: Pick<Callbacks, 'metrics' | 'logger'>,
  answered: Answered & { readonly transactionId: string },
  why: string,
): Handled {
  countConflict(callbacks, answered, why);
  return refused(CODES.validation, `transactionId: ${why}`, answered.operatorId, 'conflict');
}

/** Counts and logs a contradiction to the record. */
export function countConflict(
  { metrics, logger }: Pick<Callbacks, 'metrics' | 'logger'>,
  { operation, operatorId, transactionId }: Answered & { readonly transactionId: string },
  why: string,
): void {
  metrics.conflicts.inc({ operator: operatorId ?? 'unknown' });
  logger.warn({ operator: operatorId, operation, transactionId, why }, 'bet.conflict');
}
