import { sameAmount } from '../../../src/domain/amount.ts';
import { judgeSignature } from '../../../tools/simulator/wallet/http.ts';
import type { Verdict } from '../../../tools/simulator/wallet/ledger.ts';
import { accepted, declined, flawed, type Mistake } from './mistake.ts';

/** Books matching calls with another amount. */
const booksAs = (fits: (call: FlawedCall) => boolean, amount: string): Mistake =>
  flawed((call, books) => (fits(call) ? books.book({ ...call, amount }) : undefined));

type FlawedCall = Parameters<NonNullable<Mistake['flaw']>>[0];

/** Refuses matching calls with code 5. */
const refuses = (fits: (call: FlawedCall) => boolean): Mistake =>
  flawed((call) => (fits(call) ? declined(5) : undefined));

export const takesOneForNothing = booksAs(
  ({ operation, amount }) => operation === 'place' && sameAmount(amount, '0'),
  '1',
);

export const breaksOnNothing: Mistake = {
  rewrite: (answer, call) =>
    call.operation === 'place' && sameAmount(call.amount, '0') ? { status: 500, body: '' } : answer,
};

/** Rounds to whole coins. */
export const countsWholeCoins = flawed((call, books) =>
  call.operation === 'place'
    ? books.book({ ...call, amount: String(Math.round(Number(call.amount))) })
    : undefined,
);

export const paysWholeCoins = flawed((call, books) =>
  call.operation === 'settle'
    ? books.book({ ...call, amount: String(Math.round(Number(call.amount))) })
    : undefined,
);

export const paysNoRefund = booksAs(
  (call) => call.operation === 'settle' && call.resultType === 'refund',
  '0',
);

export const refusesCashouts = refuses(
  (call) => call.operation === 'settle' && call.resultType === 'cashout',
);

/** Pays a cashout to whoever asks. */
export const cashesOutByAnyToken = flawed((call, books) =>
  call.operation === 'settle' && call.resultType === 'cashout'
    ? books.book({ ...call, resultType: 'won' })
    : undefined,
);

export const paysUnknownBets = flawed((call, books) => {
  if (call.operation !== 'settle' || books.bet(call.transactionId) !== undefined) return undefined;
  books.credit(call.userId, call.currency, call.amount);
  return accepted();
});

/** Takes back a payout that a bet never had. */
export const takesWhatWasNotPaid = (of: 'unknown' | 'unsettled'): Mistake =>
  flawed((call, books) => {
    const bet = books.bet(call.transactionId);
    const isOne = of === 'unknown' ? bet === undefined : bet?.status === 'waiting';
    if (call.operation !== 'unsettle' || !isOne) return undefined;
    books.debit(call.userId, call.currency, call.amount);
    return accepted();
  });

export const refusesToUnsettleLost = flawed((call, books) => {
  const bet = call.operation === 'unsettle' ? books.bet(call.transactionId) : undefined;
  return bet?.status === 'settled' && sameAmount(bet.paid, '0') ? declined(5) : undefined;
});

/** Treats a lost bet as finished: nothing more is paid for it. */
export const forgetsLostBets = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  return bet?.status === 'settled' && sameAmount(bet.paid, '0') ? accepted() : undefined;
});

export const refusesLostAgain = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  return bet?.status === 'settled' && sameAmount(bet.paid, '0') ? declined(5) : undefined;
});

/** Deducts the stake of a freebet from its payout, although it has debited that stake. */
export const paysWinningsAlone = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'waiting') return undefined;
  const verdict = books.book(call);
  books.debit(call.userId, call.currency, bet.stake);
  return verdict;
});

export const returnsLostStakes = flawed((call, books) => {
  const bet = call.operation === 'settle' ? books.bet(call.transactionId) : undefined;
  if (bet?.status !== 'waiting') return undefined;
  const verdict = books.book(call);
  books.credit(call.userId, call.currency, bet.stake);
  return verdict;
});

/** Accepts a place in any currency, and a known bet with another amount. */
export const takesAnyPlace = flawed((call, books) => {
  const isKnown = books.bet(call.transactionId) !== undefined;
  return call.operation === 'place' && (isKnown || call.currency !== 'USD')
    ? accepted()
    : undefined;
});

/** Confirms requests that it cannot even read. */
export const acceptsTheUnreadable: Mistake = {
  rewriteRefused: () => ({
    status: 200,
    body: '{"transactionId":"any","transactionTime":"2026-11-21T12:00:00Z"}',
  }),
};

export const breaksOnTheUnreadable: Mistake = {
  rewriteRefused: () => ({ status: 500, body: '' }),
};

/** Refuses a body that contains this text. */
export const refusesBodiesWith = (text: string): Mistake => ({
  judge: (request, keys) =>
    request.body.includes(text) ? { ok: false, reason: 'mismatch' } : judgeSignature(request, keys),
});

/** Refuses a place whose body does not contain this text. */
export const refusesPlacesWithout = (text: string): Mistake => ({
  judge: (request, keys) =>
    request.body.includes('"ip"') && !request.body.includes(text)
      ? { ok: false, reason: 'mismatch' }
      : judgeSignature(request, keys),
});

/** Changes members of its answers to profile or balance, from the second one on. */
export function saysLater(
  operation: 'profile' | 'balance',
  change: (told: Readonly<Record<string, unknown>>, times: number) => object,
): Mistake {
  let times = 0;
  return {
    rewrite: (answer, call) => {
      if (call.operation !== operation || answer.status !== 200) return answer;
      times += 1;
      const told: Record<string, unknown> = JSON.parse(answer.body);
      return times === 1
        ? answer
        : { ...answer, body: JSON.stringify({ ...told, ...change(told, times) }) };
    },
  };
}

/** Answers everybody, whatever the token, with what was asked for. */
export const tellsAnybody: Mistake = {
  rewrite: (answer, call) => {
    if (answer.status === 200 || (call.operation !== 'profile' && call.operation !== 'balance')) {
      return answer;
    }
    const currency = call.operation === 'balance' ? call.currency : 'USD';
    return { status: 200, body: `{"userId":"ann","currency":"${currency}","amount":5}` };
  },
};

/** Returns the balance in the token's own currency, whichever was asked for. */
export const ignoresCurrencies: Mistake = {
  rewrite: (answer, { operation }) =>
    operation === 'balance'
      ? { status: 200, body: '{"userId":"ann","currency":"USD","amount":5}' }
      : answer,
};

/** Its clock is off by this many minutes. */
export const clockOff = (minutes: number): Mistake => ({
  rewrite: (answer, call) =>
    call.operation === 'place' && answer.status === 200
      ? {
          ...answer,
          body: answer.body.replace(/(?<="transactionTime":")[^"]+/, (time) =>
            new Date(Date.parse(time) + minutes * 60_000).toISOString(),
          ),
        }
      : answer,
});

/** Ignores the exponent of an amount. */
export const cutsExponents = flawed((call, books) =>
  call.operation === 'place'
    ? books.book({ ...call, amount: call.amount.replace(/e.*$/i, '') })
    : undefined,
);

/** Confirms that a lost bet is cancelled, and does nothing. */
export const ignoresCancelledLosses = flawed((call, books) => {
  if (call.operation !== 'settle' || call.resultType !== 'refund') return undefined;
  const bet = books.bet(call.transactionId);
  return bet?.status === 'settled' && bet.resultType === 'lost' ? accepted() : undefined;
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
