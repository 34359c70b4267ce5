import type { Operation } from '../../../src/domain/operation.ts';
import type { Mistake } from './mistake.ts';

/** Calls further apart count as consecutive; a wallet with such a flaw has to take longer. */
const TOGETHER_MS = 25;
export const ANSWER_AFTER_MS = 2 * TOGETHER_MS;

/**
 * Loads the player's row for such a call and saves all of it afterwards, as many an ORM does: a debit of meanwhile
 * is undone.
 */
export function savesWhatItRead(operations: readonly Operation[]): Mistake {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    rewrite: (answer, { operation }) => {
      if (operations.includes(operation)) lastMs = performance.now();
      return answer;
    },
    flaw: (call, books) => {
      const isMeanwhile = performance.now() - lastMs < TOGETHER_MS;
      if (call.operation !== 'place' || !isMeanwhile) return undefined;
      const verdict = books.book(call);
      if (verdict.kind === 'accepted') books.credit(call.userId, call.currency, call.amount);
      return verdict;
    },
  };
}
