import { addAmounts, sameAmount, subtractAmounts } from '../../../src/domain/amount.ts';
import type { WireAnswer } from '../../../tools/simulator/wallet/answers.ts';
import type { WalletCall } from '../../../tools/simulator/wallet/calls.ts';
import type { Flaw } from '../../../tools/simulator/wallet/flaw.ts';
import { judgeSignature } from '../../../tools/simulator/wallet/http.ts';
import type { Verdict } from '../../../tools/simulator/wallet/ledger.ts';
import type { WalletOptions } from '../../../tools/simulator/wallet/wallet.ts';

export type Mistake = Pick<WalletOptions, 'flaw' | 'judge' | 'rewrite' | 'rewriteRefused'>;
type Rewrite = (answer: WireAnswer, call: WalletCall) => WireAnswer;

const isBet = ({ operation }: WalletCall) => operation !== 'profile' && operation !== 'balance';

const accepted = (): Verdict => ({
  kind: 'accepted',
  transactionTime: new Date().toISOString(),
  effect: 'applied',
});
const declined = (code: number): Verdict => ({ kind: 'declined', code, message: 'Refused' });

const flawed = (flaw: Flaw): Mistake => ({ flaw });
const rewritten = (rewrite: Rewrite): Mistake => ({ rewrite });

/** Changes members of JSON answers that fit. */
function members(
  fits: (answer: WireAnswer, call: WalletCall) => boolean,
  change: (body: Record<string, unknown>, call: WalletCall) => object,
): Mistake {
  return rewritten((answer, call) =>
    fits(answer, call)
      ? { ...answer, body: JSON.stringify(change(JSON.parse(answer.body), call)) }
      : answer,
  );
}

export const acceptsAnySignature: Mistake = { judge: () => ({ ok: true }) };

/** Verifies by parsing and serialising again, as docs/protocol.md saw it done. */
export const reserialises: Mistake = {
  judge: ({ headers, body }, keys) => {
    try {
      const compact = Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))));
      return judgeSignature({ headers, body: compact }, keys);
    } catch {
      // Not JSON: nothing to serialise again.
      return { ok: false, reason: 'malformed' };
    }
  },
};

/** Wants the older header to be there too. */
/** Leaves successes without a body. */
export const emptySuccesses = rewritten((answer, call) =>
  isBet(call) && answer.status === 200 ? { ...answer, body: '' } : answer,
);

export const needsXSign: Mistake = {
  judge: (request, keys) =>
    request.headers['x-sign'] === undefined
      ? { ok: false, reason: 'missing' }
      : judgeSignature(request, keys),
};

/** Compares the whole signature header with its own, in one order. */
export const wantsAlgFirst: Mistake = {
  judge: (request, keys) =>
    String(request.headers['x-sign-jws']).startsWith('eyJhbGci')
      ? judgeSignature(request, keys)
      : { ok: false, reason: 'malformed' },
};

export const debitsDuplicates = flawed((call, books) => {
  const bet = call.operation === 'place' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'waiting' || bet.user !== call.userId) return undefined;
  if (!sameAmount(bet.stake, call.amount)) return undefined;
  books.debit(bet.user, bet.currency, call.amount);
  return accepted();
});

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

/** Knows a settle again by its requestId, so that a repeat under a new one pays again. */
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

/** Confirms a rollback that comes first, and then takes the place all the same. */
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

/** Refunds a settled bet and leaves its payout with the player. */
export const keepsPayoutOnRollback = flawed((call, books) => {
  const bet = call.operation === 'rollback' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled') return undefined;
  const verdict = books.book(call);
  books.credit(bet.user, bet.currency, bet.paid);
  return verdict;
});

export const cashesOutWithoutToken = flawed((call, books) =>
  call.operation === 'settle' && call.resultType === 'cashout' && call.token === undefined
    ? books.book({ ...call, resultType: 'won' })
    : undefined,
);

export const demandsTokenOnSettle = flawed((call) => {
  const needsToken = call.operation === 'settle' || call.operation === 'unsettle';
  return needsToken && call.token === undefined ? declined(3) : undefined;
});

export const debitsUpdates = flawed((call, books) => {
  const bet = call.operation === 'update' ? books.bet(call.transactionId) : undefined;
  if (bet === undefined) return undefined;
  books.debit(bet.user, bet.currency, '1');
  return books.book(call);
});

/** Lets players bet what they do not have. */
export const lends = flawed((call, books) => {
  if (call.operation !== 'place') return undefined;
  // As if there always were enough.
  books.credit('ann', 'USD', call.amount);
  const verdict = books.book(call);
  books.debit('ann', 'USD', call.amount);
  return verdict;
});

/** Takes any token, and the player from the body. */
export const ignoresTokens = flawed((call, books) =>
  call.operation === 'place' ? books.book({ ...call, token: 'ann-usd-token' }) : undefined,
);

export const shiftsDuplicates = (code: number): Mistake =>
  flawed((call, books) => {
    const bet = call.operation === 'place' ? books.bet(call.transactionId) : undefined;
    return bet?.status === 'waiting' && sameAmount(bet.stake, call.amount)
      ? declined(code)
      : undefined;
  });

export const answersNotEnoughAs = (code: number): Mistake =>
  members(
    ({ body }, { operation }) => operation === 'place' && body.includes('"code":7'),
    (body) => ({ ...body, code }),
  );

/** Counts in binary floats, as many a wallet does. */
export function countsInFloats(): Mistake {
  let drift = 1000;
  let exact = '1000';
  return rewritten((answer, call) => {
    if (call.operation !== 'balance' || answer.status !== 200) return answer;
    const now = /"amount":([^}]+)/.exec(answer.body)?.[1] ?? '0';
    drift += Number(subtractAmounts(now, exact));
    exact = addAmounts(now, '0');
    return { ...answer, body: answer.body.replace(now, String(drift)) };
  });
}

export const refusesUnknownRollbacks: Mistake = {
  flaw: (call, books) => {
    if (call.operation !== 'rollback') return undefined;
    const bet = books.bet(call.transactionId);
    if (bet === undefined) books.book(call);
    return bet === undefined || bet.status === 'tombstone' ? declined(5) : undefined;
  },
};

/** The same with a 404, as web frameworks answer for what is not there. */
export const missesUnknownRollbacks: Mistake = {
  ...refusesUnknownRollbacks,
  rewrite: (answer, { operation }) =>
    operation === 'rollback' && answer.status === 400 ? { ...answer, status: 404 } : answer,
};

/** Every refusal, also of requests that never become a call. */
function refusals(change: (answer: WireAnswer) => WireAnswer): Mistake {
  const rewrite = (answer: WireAnswer) => (answer.status === 400 ? change(answer) : answer);
  return { rewrite, rewriteRefused: rewrite };
}

export const errorsAs200 = refusals((answer) => ({ ...answer, status: 200 }));

export const notEnoughAs402: Mistake = rewritten((answer) =>
  answer.body.includes('"code":7') ? { status: 402, body: '' } : answer,
);

export const codeIn = (name: string): Mistake =>
  refusals((answer) => ({ ...answer, body: answer.body.replace('"code"', `"${name}"`) }));

export const without = (name: 'message' | 'transactionId' | 'transactionTime'): Mistake =>
  members(
    (_answer, call) => isBet(call),
    ({ [name]: _left, ...rest }) => rest,
  );

export const created = rewritten((answer, call) =>
  isBet(call) && answer.status === 200 ? { ...answer, status: 201 } : answer,
);

export const successCode = (code: number): Mistake =>
  members(
    ({ status }, call) => status === 200 && isBet(call),
    (body) => ({ ...body, code }),
  );

export const amountInQuotes = members(
  ({ status }, { operation }) => status === 200 && operation === 'balance',
  (body) => ({ ...body, amount: String(body.amount) }),
);

/** Tells anybody's balance to anybody. */
export const tellsForeignBalances = rewritten((answer, call) =>
  call.operation === 'balance' && call.userId !== 'ann'
    ? { status: 200, body: `{"userId":"${call.userId}","currency":"USD","amount":5}` }
    : answer,
);

export const oddProfile = members(
  ({ status }, { operation }) => status === 200 && operation === 'profile',
  (body) => ({ ...body, currencies: 'USD', customFields: { isVerified: 'yes' } }),
);

/** Undoes results, but forgets that a cashout was one. */
export const keepsUnsettledCashouts = flawed((call, books) => {
  const bet = call.operation === 'unsettle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'settled' || bet.resultType !== 'cashout') return undefined;
  const verdict = books.book(call);
  books.credit(bet.user, bet.currency, bet.paid);
  return verdict;
});

/** After an unsettle pays the first result again, whatever the next one says. */
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

/** Pays a win beside the cashout that was before it. */
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

/** Refunds what the rollback names, not what was staked. */
export const refundsNamedAmount = flawed((call, books) => {
  const bet = call.operation === 'rollback' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'waiting' || sameAmount(bet.stake, call.amount)) return undefined;
  const verdict = books.book(call);
  books.credit(bet.user, bet.currency, subtractAmounts(call.amount, bet.stake));
  return verdict;
});

/** Calls a rollback of a settled bet processed, and leaves everything as it was. */
export const ignoresRollbackOfSettled = (code: number): Mistake =>
  flawed((call, books) =>
    call.operation === 'rollback' && books.bet(call.transactionId)?.status === 'settled'
      ? declined(code)
      : undefined,
  );

/** Refuses only tokens that are too short to be one; real ones have 13 characters here. */
export const knowsTokensByLength: Mistake = flawed((call, books) =>
  call.operation === 'place' && call.token?.length === 'ann-usd-token'.length
    ? books.book({ ...call, token: 'ann-usd-token' })
    : undefined,
);

/** Refuses only ids of players that are no numbers, and takes the player from the token. */
export const knowsPlayersByDigits = (own: string): Mistake => ({
  ...flawed((call, books) =>
    call.operation === 'place' && /^\d+$/.test(call.userId)
      ? books.book({ ...call, userId: own })
      : undefined,
  ),
});

/** Debits the player of the token, whoever the place is for. */
export const debitsHolderOfToken: Mistake = flawed((call, books) =>
  call.operation === 'place' && call.token === 'bob-usd-token'
    ? books.book({ ...call, userId: 'bob' })
    : undefined,
);

/** Pays a settle to whom it names, and refunds a rollback to whom it names. */
export const paysWhomItNames: Mistake = flawed((call, books) => {
  const bet = books.bet(call.transactionId);
  if (bet === undefined || bet.user === call.userId || call.userId !== 'bob') return undefined;
  if (call.operation !== 'settle' && call.operation !== 'rollback') return undefined;
  books.credit('bob', call.currency, call.amount);
  return accepted();
});

/** Reads the balance, adds and writes in steps: of settles at the same time only one counts. */
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
  // Longer than what counts as at the same time: one after the other nothing is lost.
  return { ...mistake, answerAfterMs: 2 * CONCURRENT_MS };
}
const CONCURRENT_MS = 25;

/** Forgets the payout of a journey's last settle: only the money at its end shows it. */
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

/** Rounds to the smallest coin, which is less than half of one off. */
export const roundsBalances = rewritten((answer, call) =>
  call.operation === 'balance' && answer.status === 200
    ? {
        ...answer,
        body: answer.body.replace(
          /"amount":([^}]+)/,
          (_, amount) => `"amount":${Number(amount).toFixed(2)}`,
        ),
      }
    : answer,
);

/** Says by 402 what the body says too. */
export const refusesBy402 = refusals((answer) => ({ ...answer, status: 402 }));
