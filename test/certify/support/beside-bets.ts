import { sameAmount, subtractAmounts } from '../../../src/domain/amount.ts';
import { CODES } from '../../../src/domain/codes.ts';
import type { Operation } from '../../../src/domain/operation.ts';
import { declined, flawed, type Mistake } from './mistake.ts';

/** Calls further apart count as consecutive; a wallet with such a flaw has to take longer. */
const TOGETHER_MS = 100;
export const ANSWER_AFTER_MS = TOGETHER_MS + 10;

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

/** Keeps a member of a place where all requests find it: those that coincide are booked with the first one's. */
export function sharesFirst(member: 'amount' | 'userId'): Mistake {
  let shared = '';
  let lastMs = Number.NEGATIVE_INFINITY;
  return flawed((call, books) => {
    if (call.operation !== 'place') return undefined;
    const isMeanwhile = performance.now() - lastMs < TOGETHER_MS;
    lastMs = performance.now();
    if (!isMeanwhile) shared = call[member];
    return books.book({ ...call, [member]: shared });
  });
}

/** Debits this player once for all places that coincide. */
export function forgetsStakesOf(user: string): Mistake {
  let lastMs = Number.NEGATIVE_INFINITY;
  return flawed((call, books) => {
    if (call.operation !== 'place' || call.userId !== user) return undefined;
    const isMeanwhile = performance.now() - lastMs < TOGETHER_MS;
    lastMs = performance.now();
    const verdict = books.book(call);
    if (isMeanwhile) books.credit(user, call.currency, call.amount);
    return verdict;
  });
}

/**
 * Reads the balance, adds and writes in steps, but only where a settled bet gets this operation: of several bets at
 * once one alone counts.
 */
export function changesInSteps(operation: 'settle' | 'rollback'): Mistake {
  let lastMs = Number.NEGATIVE_INFINITY;
  return flawed((call, books) => {
    const bet = call.operation === operation ? books.bet(call.transactionId) : undefined;
    if (bet?.status !== 'settled' || sameAmount(bet.paid, call.amount)) return undefined;
    const isMeanwhile = performance.now() - lastMs < TOGETHER_MS;
    lastMs = performance.now();
    const before = books.balance(bet.user, bet.currency);
    const verdict = books.book(call);
    const moved = subtractAmounts(books.balance(bet.user, bet.currency), before);
    if (isMeanwhile) books.credit(bet.user, bet.currency, subtractAmounts('0', moved));
    return verdict;
  });
}

/** No mistake: a player whom the operator has blocked bets nothing. */
export const blocks = (user: string): Mistake =>
  flawed((call) =>
    call.operation === 'place' && call.userId === user ? declined(CODES.blocked) : undefined,
  );
