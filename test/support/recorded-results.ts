import { isResult } from '../../src/domain/operation.ts';
import type { BetJournal, RecordedOperation } from '../../src/store/bets/journal.ts';

/** The journal's answers about the results of one bet that has these operations. */
export function resultsAmong(
  newestFirst: readonly RecordedOperation[],
): Pick<BetJournal, 'operation' | 'resultsOf' | 'resultsUnder'> {
  const upTo = (id: string | undefined) => (one: RecordedOperation) =>
    id === undefined || BigInt(one.id) <= BigInt(id);
  const results = newestFirst.filter(({ operation }) => isResult(operation));
  return {
    operation: async ({ operationId }) => newestFirst.find(({ id }) => id === operationId),
    async *resultsOf(_, before) {
      yield* results.filter((one) => one.id !== before && upTo(before)(one));
    },
    resultsUnder: async ({ requestId, upTo: last }) =>
      results.filter((one) => one.requestId === requestId && upTo(last)(one)),
  };
}
