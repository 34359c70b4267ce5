import { compareAmounts, sameAmount, subtractAmounts } from '../../../src/domain/amount.ts';
import type { BetOperation } from '../../../src/domain/operation.ts';
import { judgeSignature } from '../../../tools/simulator/wallet/http.ts';
import type { Verdict } from '../../../tools/simulator/wallet/ledger.ts';
import { accepted, declined, flawed, type Mistake } from './mistake.ts';

/*
 * Wallets whose mistake shows only if two calls of a bet coincide, or if results are examined and not only places.
 */

/** Calls further apart count as consecutive; a wallet with such a flaw has to take longer. */
const TOGETHER_MS = 25;
export const ANSWER_AFTER_MS = 2 * TOGETHER_MS;

/** Tells whether a call of this bet coincides with an earlier one. */
function meetings(): (bet: string) => boolean {
  const last = new Map<string, number>();
  return (bet) => {
    const [nowMs, lastMs] = [performance.now(), last.get(bet)];
    last.set(bet, nowMs);
    return lastMs !== undefined && nowMs - lastMs < TOGETHER_MS;
  };
}

/** Takes the payout back once for each coinciding copy of an unsettle. */
export function unsettlesTogether(): Mistake {
  const meets = meetings();
  return flawed((call, books) => {
    if (call.operation !== 'unsettle' || !meets(call.transactionId)) return undefined;
    books.debit(call.userId, call.currency, call.amount);
    return accepted();
  });
}

/** Pays the difference of a corrected result once for each coinciding copy. */
export function correctsTogether(): Mistake {
  const meets = meetings();
  const corrected = new Set<string>();
  return flawed((call, books) => {
    if (call.operation !== 'settle') return undefined;
    const bet = books.bet(call.transactionId);
    const isMet = meets(call.transactionId);
    if (isMet && corrected.has(call.transactionId)) {
      books.credit(call.userId, call.currency, '2');
      return accepted();
    }
    const isChange = bet?.status === 'settled' && !sameAmount(bet.paid, call.amount);
    if (isChange) corrected.add(call.transactionId);
    return undefined;
  });
}

/**
 * Reads the state of a bet, pays or returns the stake, and writes the state: coinciding result and rollback do
 * both.
 */
export function paysBesideRollback(): Mistake {
  const meets = meetings();
  return flawed((call, books) => {
    if (call.operation !== 'settle' && call.operation !== 'rollback') return undefined;
    const isMet = meets(call.transactionId);
    const bet = books.bet(call.transactionId);
    if (!isMet || bet === undefined) return undefined;
    if (call.operation === 'settle' && bet.status === 'rolled_back') {
      books.credit(bet.user, bet.currency, call.amount);
      return accepted();
    }
    if (call.operation !== 'rollback' || bet.status !== 'settled') return undefined;
    const { paid } = bet;
    const verdict = books.book(call);
    books.credit(bet.user, bet.currency, paid);
    return verdict;
  });
}

/** Compares a stake with the balance in whole coins. */
export const lendsCents = flawed((call, books) => {
  if (call.operation !== 'place' || call.userId !== 'ann' || call.currency !== 'USD') {
    return undefined;
  }
  const missing = subtractAmounts(call.amount, books.balance(call.userId, call.currency));
  if (compareAmounts(missing, '0') <= 0 || compareAmounts(missing, '1') >= 0) return undefined;
  books.credit(call.userId, call.currency, missing);
  const verdict = books.book(call);
  books.debit(call.userId, call.currency, missing);
  return verdict;
});

/** Ignores the exponent of an amount. */
export const cutsExponents = flawed((call, books) =>
  call.operation === 'place'
    ? books.book({ ...call, amount: call.amount.replace(/e.*$/i, '') })
    : undefined,
);

const TYPES: Readonly<Partial<Record<BetOperation, number>>> = { settle: 2, rollback: 3 };

/** Verifies the signature of such a call only if it has one. */
export const asksNoSignatureOf = (operation: 'settle' | 'unsettle' | 'rollback'): Mistake => ({
  judge: (request, keys) => {
    const body = request.body.toString('utf8');
    const isOne = body.includes(`"type":${TYPES[operation] ?? 1}`) && !body.includes('"ip"');
    return isOne && request.headers['x-sign-jws'] === undefined
      ? { ok: true }
      : judgeSignature(request, keys);
  },
});

/** Rejects the algorithm `none`, but accepts other spellings of it. */
export const takesNone: Mistake = {
  judge: (request, keys) => {
    const [header = ''] = String(request.headers['x-sign-jws']).split('.');
    const { alg }: { alg?: string } = readHeader(header);
    return alg !== 'none' && alg?.toLowerCase() === 'none'
      ? { ok: true }
      : judgeSignature(request, keys);
  },
};

function readHeader(base64url: string): { alg?: string } {
  try {
    return JSON.parse(Buffer.from(base64url, 'base64url').toString('utf8'));
  } catch {
    return {};
  }
}

/** Knows an unsettle again by its bet and its amount, although the bet got a new result meanwhile. */
export function knowsUnsettlesByAmount(): Mistake {
  const seen = new Set<string>();
  return flawed((call) => {
    if (call.operation !== 'unsettle') return undefined;
    const key = `${call.transactionId} ${call.amount}`;
    if (seen.has(key)) return accepted();
    seen.add(key);
    return undefined;
  });
}

/** Refuses a rollback under a requestId that it has seen, as if somebody had captured it. */
export function refusesSeenRequests(): Mistake {
  const seen = new Set<string>();
  return flawed(({ operation, requestId }) => {
    const isAgain = seen.has(requestId);
    if (operation === 'rollback') seen.add(requestId);
    return isAgain ? declined(5) : undefined;
  });
}

/** Takes back what an unsettle names, not what the bet has paid. */
export const takesNamedPayouts = flawed((call, books) => {
  const bet = call.operation === 'unsettle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled') return undefined;
  books.credit(bet.user, bet.currency, bet.paid);
  books.debit(bet.user, bet.currency, call.amount);
  return books.book(call);
});

/** Keeps every answer by its requestId, as middlewares for idempotency keys do, refusals as well. */
export function repeatsOldAnswers(): Mistake {
  const told = new Map<string, Verdict>();
  return flawed((call, books) => {
    const verdict = told.get(call.requestId) ?? books.book(call);
    told.set(call.requestId, verdict);
    return verdict;
  });
}
