import type { Bet } from '../domain/bet.ts';
import { contradiction, sentTerms } from '../domain/terms.ts';
import { countConflict } from './counted-answers.ts';
import type { PromisedCallback } from './promise.ts';

/**
 * Counts and logs how a rollback or update contradicts its bet, and which of its members are left out or taken from the
 * journal. The same callback reads its bet again whenever it moves, so only the first call counts.
 * @returns to be called with the bet, or with undefined if neither the bet nor its player is known
 */
export function noteOfRepairs(callback: PromisedCallback): (bet: Bet | undefined) => void {
  let isNoted = false;
  return (bet) => {
    if (isNoted) return;
    isNoted = true;
    const { callbacks, message, transactionId } = callback;
    const { operation } = message;
    const operatorId = bet?.owner?.operatorId;
    const why = bet && contradiction(operation, bet, message);
    if (why !== undefined) countConflict(callbacks, { operation, operatorId, transactionId }, why);
    const members = repairedMembers(callback, bet);
    if (members.length === 0) return;
    callbacks.metrics.repairedCallbacks.inc({ operator: operatorId ?? 'unknown', operation });
    const facts = { operator: operatorId, operation, transactionId, members };
    callbacks.logger.warn(facts, 'bet.members_repaired');
  };
}

/** The names of members that are odd, and of missing ones that the journal has. */
function repairedMembers({ message }: PromisedCallback, bet: Bet | undefined): readonly string[] {
  const members = new Set(Object.keys(message.repairs));
  if (bet === undefined) return [...members];
  const { amount, currency } = sentTerms(message.operation, bet, message);
  if (message.userId === undefined) members.add('userId');
  if (message.amount === undefined && amount !== undefined) members.add('amount');
  if (message.currency === undefined && currency !== undefined) members.add('currency');
  return [...members];
}
