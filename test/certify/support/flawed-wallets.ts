import { sameAmount, subtractAmounts } from '../../../src/domain/amount.ts';
import { accepted, declined, flawed, type Mistake } from './mistake.ts';

export const debitsDuplicates = flawed((call, books) => {
  const bet = call.operation === 'place' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'waiting' || bet.user !== call.userId) return undefined;
  if (!sameAmount(bet.stake, call.amount)) return undefined;
  books.debit(bet.user, bet.currency, call.amount);
  return accepted();
});

export const debitsNothing = flawed((call, books) =>
  call.operation === 'place' ? books.book({ ...call, amount: '0' }) : undefined,
);

export const paysRepeatedSettles = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled' || !sameAmount(bet.paid, call.amount)) return undefined;
  books.credit(bet.user, bet.currency, call.amount);
  return accepted();
});

export const paysRepeatedCashouts = flawed((call, books) => {
  if (call.operation !== 'settle' || call.resultType !== 'cashout') return undefined;
  const bet = books.bet(call.transactionId);
  if (bet?.status !== 'settled') return undefined;
  books.credit(bet.user, bet.currency, call.amount);
  return accepted();
});

/** Recognises a repeated settle by its requestId, so a repeat under a new one pays again. */
export function identifiesByRequestId(): Mistake {
  const requests = new Set<string>();
  return flawed((call, books) => {
    const isNew = !requests.has(call.requestId);
    requests.add(call.requestId);
    const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
    if (!isNew || bet?.status !== 'settled' || !sameAmount(bet.paid, call.amount)) return undefined;
    books.credit(bet.user, bet.currency, call.amount);
    return accepted();
  });
}

/** Pays a changed result in full, and forgets to take the first payout back. */
export const addsResettles = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled' || sameAmount(bet.paid, call.amount)) return undefined;
  const verdict = books.book(call);
  books.credit(bet.user, bet.currency, bet.paid);
  return verdict;
});

export const blocksResettles = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled' || sameAmount(bet.paid, call.amount)) return undefined;
  return declined(20);
});

export const keepsUnsettledPayouts = flawed((call, books) => {
  const bet = call.operation === 'unsettle' ? books.bet(call.transactionId) : undefined;
  const verdict = bet?.status === 'settled' ? books.book(call) : undefined;
  if (bet !== undefined && verdict !== undefined) books.credit(bet.user, bet.currency, bet.paid);
  return verdict;
});

export const unsettlesTwice = flawed((call, books) => {
  const bet = call.operation === 'unsettle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'waiting' || bet.times.unsettle === undefined) return undefined;
  books.debit(bet.user, bet.currency, call.amount);
  return accepted();
});

export const refundsTwice = flawed((call, books) => {
  const bet = call.operation === 'rollback' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'rolled_back') return undefined;
  books.credit(bet.user, bet.currency, bet.stake);
  return accepted();
});

export const refundsUnknownBets = flawed((call, books) => {
  if (call.operation !== 'rollback' || books.bet(call.transactionId) !== undefined)
    return undefined;
  const verdict = books.book(call);
  books.credit(call.userId, call.currency, call.amount);
  return verdict;
});

export const neverRefunds = flawed((call, books) => {
  const bet = call.operation === 'rollback' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'waiting') return undefined;
  const verdict = books.book(call);
  books.debit(bet.user, bet.currency, bet.stake);
  return verdict;
});

/** Confirms a rollback that comes first, and then accepts the place nevertheless. */
export const forgetsEarlyRollbacks = flawed((call, books) =>
  call.operation === 'rollback' && books.bet(call.transactionId) === undefined
    ? accepted()
    : undefined,
);

export const placesAgainAfterRollback = flawed((call, books) => {
  const bet = call.operation === 'place' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'rolled_back') return undefined;
  books.debit(bet.user, bet.currency, call.amount);
  return accepted();
});

/** Returns the stake of a settled bet and leaves its payout with the player. */
export const keepsPayoutOnRollback = flawed((call, books) => {
  const bet = call.operation === 'rollback' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled') return undefined;
  const verdict = books.book(call);
  books.credit(bet.user, bet.currency, bet.paid);
  return verdict;
});

export const debitsUpdates = flawed((call, books) => {
  const bet = call.operation === 'update' ? books.bet(call.transactionId) : undefined;
  if (bet === undefined) return undefined;
  books.debit(bet.user, bet.currency, '1');
  return books.book(call);
});

/** Lets players bet money that they do not have. */
export const lends = flawed((call, books) => {
  if (call.operation !== 'place') return undefined;
  // Pretends that there is always enough.
  books.credit('ann', 'USD', call.amount);
  const verdict = books.book(call);
  books.debit('ann', 'USD', call.amount);
  return verdict;
});

export const shiftsDuplicates = (code: number): Mistake =>
  flawed((call, books) => {
    const bet = call.operation === 'place' ? books.bet(call.transactionId) : undefined;
    return bet?.status === 'waiting' && sameAmount(bet.stake, call.amount)
      ? declined(code)
      : undefined;
  });

export const refusesUnknownRollbacks: Mistake = {
  flaw: (call, books) => {
    if (call.operation !== 'rollback') return undefined;
    const bet = books.bet(call.transactionId);
    if (bet === undefined) books.book(call);
    return bet === undefined || bet.status === 'tombstone' ? declined(5) : undefined;
  },
};

/** The same with a 404, which web frameworks send for anything missing. */
export const missesUnknownRollbacks: Mistake = {
  ...refusesUnknownRollbacks,
  rewrite: (answer, { operation }) =>
    operation === 'rollback' && answer.status === 400 ? { ...answer, status: 404 } : answer,
};

/** Reverses results, but forgets that a cashout is one. */
export const keepsUnsettledCashouts = flawed((call, books) => {
  const bet = call.operation === 'unsettle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled' || bet.resultType !== 'cashout') return undefined;
  const verdict = books.book(call);
  books.credit(bet.user, bet.currency, bet.paid);
  return verdict;
});

/** After an unsettle, pays the first result again, whatever the next one says. */
function paysOldResultAfterUnsettle(resultType: 'lost' | 'refund'): () => Mistake {
  return () => {
    const unsettled = new Map<string, string>();
    return flawed((call, books) => {
      const bet = books.bet(call.transactionId);
      if (call.operation === 'unsettle' && bet?.status === 'settled') {
        unsettled.set(call.transactionId, bet.paid);
      }
      const old = unsettled.get(call.transactionId);
      if (call.operation !== 'settle' || call.resultType !== resultType) return undefined;
      if (old === undefined || bet?.status !== 'waiting') return undefined;
      const verdict = books.book(call);
      books.credit(bet.user, bet.currency, old);
      return verdict;
    });
  };
}

export const paysLostAfterUnsettle = paysOldResultAfterUnsettle('lost');

export const paysRefundTwiceAfterUnsettle = paysOldResultAfterUnsettle('refund');

/** Pays a win in addition to the earlier cashout. */
export const addsWinToCashout = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled' || bet.resultType !== 'cashout') return undefined;
  if (call.operation !== 'settle' || call.resultType === 'cashout') return undefined;
  const verdict = books.book(call);
  books.credit(bet.user, bet.currency, bet.paid);
  return verdict;
});

export const paysAfterRollback = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'rolled_back') return undefined;
  books.credit(bet.user, bet.currency, call.amount);
  return accepted();
});

export const takesAfterRollback = flawed((call, books) => {
  const bet = call.operation === 'unsettle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'rolled_back') return undefined;
  books.debit(bet.user, bet.currency, call.amount);
  return accepted();
});

/** Returns the amount in the rollback instead of the stake. */
export const refundsNamedAmount = flawed((call, books) => {
  const bet = call.operation === 'rollback' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'waiting' || sameAmount(bet.stake, call.amount)) return undefined;
  const verdict = books.book(call);
  books.credit(bet.user, bet.currency, subtractAmounts(call.amount, bet.stake));
  return verdict;
});

/** Answers that a rollback of a settled bet was already processed, and changes nothing. */
export const ignoresRollbackOfSettled = (code: number): Mistake =>
  flawed((call, books) =>
    call.operation === 'rollback' && books.bet(call.transactionId)?.status === 'settled'
      ? declined(code)
      : undefined,
  );

/** Reads the balance, adds and writes in separate steps: of concurrent settles only one counts. */
export function losesConcurrentPayouts(): Mistake & { readonly answerAfterMs: number } {
  let lastMs = Number.NEGATIVE_INFINITY;
  const mistake = flawed((call, books) => {
    const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
    if (bet?.status !== 'waiting') return undefined;
    const nowMs = performance.now();
    const isConcurrent = nowMs - lastMs < CONCURRENT_MS;
    lastMs = nowMs;
    const verdict = books.book(call);
    if (isConcurrent) books.debit(bet.user, bet.currency, call.amount);
    return verdict;
  });
  // Longer than what counts as concurrent: one after another, nothing is lost.
  return { ...mistake, answerAfterMs: 2 * CONCURRENT_MS };
}

const CONCURRENT_MS = 25;

/** Loses the payout of a journey's last settle: only the balance at the end shows it. */
export function paysLostOnThirdResult(): Mistake {
  const results = new Map<string, number>();
  return flawed((call, books) => {
    if (call.operation === 'update') results.set(call.transactionId, 0);
    const count = results.get(call.transactionId);
    if (call.operation !== 'settle' || count === undefined) return undefined;
    results.set(call.transactionId, count + 1);
    const bet = books.bet(call.transactionId);
    if (count === 0 || bet?.status !== 'waiting') return undefined;
    const verdict = books.book(call);
    books.credit(bet.user, bet.currency, '1');
    return verdict;
  });
}
