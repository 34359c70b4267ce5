import { CODES } from '../domain/codes.ts';
import type { BetOperation } from '../domain/operation.ts';
import type { Answer } from '../protocol/answers.ts';
import { refused } from './answers.ts';
import type { Callbacks } from './context.ts';
import type { Handled } from './handled.ts';

/** Which operation is answered, and whose it is as far as that is known. */
interface Answered {
  readonly operation: BetOperation;
  readonly operatorId: string | undefined;
}

/** A recorded answer, again; counted by where it was known from. */
export function answerDuplicate(
  { metrics }: Pick<Callbacks, 'metrics'>,
  { operation, operatorId }: Answered,
  source: 'in_flight' | 'journal' | 'redis',
  answer: Answer,
): Handled {
  metrics.duplicates.inc({ operator: operatorId ?? 'unknown', operation, source });
  return { answer, outcome: 'duplicate', operatorId };
}

/** The refusal of what contradicts the record (I10). */
export function answerConflict(
  { metrics, logger }: Pick<Callbacks, 'metrics' | 'logger'>,
  { operation, operatorId, transactionId }: Answered & { readonly transactionId: string },
  why: string,
): Handled {
  metrics.conflicts.inc({ operator: operatorId ?? 'unknown' });
  logger.warn({ operator: operatorId, operation, transactionId, why }, 'bet.conflict');
  return refused(CODES.validation, `transactionId: ${why}`, operatorId, 'conflict');
}
