import type { BetOperation } from '../../../src/domain/operation.ts';
import { accepted, declined, flawed, type Mistake } from './mistake.ts';

export const cashesOutWithoutToken = flawed((call, books) =>
  call.operation === 'settle' && call.resultType === 'cashout' && call.token === undefined
    ? books.book({ ...call, resultType: 'won' })
    : undefined,
);

export const demandsTokenOnSettle = flawed((call) => {
  const needsToken = call.operation === 'settle' || call.operation === 'unsettle';
  return needsToken && call.token === undefined ? declined(3) : undefined;
});

/** Accepts a place without a bet id, and cannot name one in its answer. */
export const needsNoTransactionId: Mistake = {
  rewriteRefused: (answer) =>
    answer.body.includes('transactionId')
      ? { status: 200, body: JSON.stringify({ transactionTime: new Date().toISOString() }) }
      : answer,
};

/** Accepts any token, and takes the player from the body. */
export const ignoresTokens = flawed((call, books) =>
  call.operation === 'place' ? books.book({ ...call, token: 'ann-usd-token' }) : undefined,
);

/** Refuses only tokens of the wrong length; real ones have 13 characters here. */
export const knowsTokensByLength: Mistake = flawed((call, books) =>
  call.operation === 'place' && call.token?.length === 'ann-usd-token'.length
    ? books.book({ ...call, token: 'ann-usd-token' })
    : undefined,
);

/** Refuses only player ids that are not numbers, and takes the player from the token. */
export const knowsPlayersByDigits = (own: string): Mistake => ({
  ...flawed((call, books) =>
    call.operation === 'place' && /^\d+$/.test(call.userId)
      ? books.book({ ...call, userId: own })
      : undefined,
  ),
});

/** Debits the token's player, whoever the place is for. */
export const debitsHolderOfToken: Mistake = flawed((call, books) =>
  call.operation === 'place' && call.token === 'bob-usd-token'
    ? books.book({ ...call, userId: 'bob' })
    : undefined,
);

/** Pays a settle, and returns the stake of a rollback, to the player that the message names. */
export const paysWhomItNames: Mistake = flawed((call, books) => {
  const bet = books.bet(call.transactionId);
  if (bet === undefined || bet.user === call.userId || call.userId !== 'bob') return undefined;
  if (call.operation !== 'settle' && call.operation !== 'rollback') return undefined;
  books.credit('bob', call.currency, call.amount);
  return accepted();
});

/** Checks the token of these calls, where they have one, against the live ones and these ended ones. */
export const checksTokensOf = (
  operations: readonly BetOperation[],
  ended: readonly string[] = [],
): Mistake =>
  flawed(({ operation, token }) =>
    operations.includes(operation) &&
    token !== undefined &&
    token !== 'ann-usd-token' &&
    !ended.includes(token)
      ? declined(3)
      : undefined,
  );

/** The same, and refuses results without a token. */
export function demandsLiveTokens(ended: readonly string[] = []): Mistake {
  const [demanding, checking] = [
    demandsTokenOnSettle,
    checksTokensOf(['settle', 'unsettle'], ended),
  ];
  return flawed((call, books) => demanding.flaw?.(call, books) ?? checking.flaw?.(call, books));
}

/** Confirms a rollback whose token has ended, and does nothing. */
export const forgetsTheDeparted: Mistake = flawed(({ operation, token = 'ann-usd-token' }) =>
  operation === 'rollback' && token !== 'ann-usd-token' ? accepted() : undefined,
);
