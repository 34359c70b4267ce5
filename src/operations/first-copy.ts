import type { Answer } from '../protocol/answers.ts';
import { type BetRequest, parseBet } from '../protocol/messages.ts';
import type { Callbacks } from './callbacks.ts';
import { askForSameResult } from './result-in.ts';

/**
 * The answer that the service got for an operation that was in flight when its copy came
 * (docs/reference.md, Callbacks: a copy "waits for the first and gives its answer"). For an accepted
 * operation the bet's state gives the answer; this is for the others: refused, or not delivered.
 *
 * @param attemptId of the operation that the copy waited for
 * @returns undefined if that was not the same operation, or has no answer on record
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function answerOfFirst(
  { bets }: Callbacks,
  message: BetRequest,
  attemptId: string,
): Promise<Answer | undefined> {
  const { transactionId } = message;
  const recorded = await bets.answerOf({ transactionId, attemptId });
  if (recorded?.answer === undefined) return undefined;
  const first = parseBet('PUT', recorded.body);
  return first.ok && isSame(first.message, message) ? recorded.answer : undefined;
}

/** Whether two operations have the same content. */
export function isSame(first: BetRequest, copy: BetRequest): boolean {
  if (first.operation === 'update' && copy.operation === 'update') {
    return first.coefficientsKey === copy.coefficientsKey;
  }
  return askForSameResult(first, copy);
}
