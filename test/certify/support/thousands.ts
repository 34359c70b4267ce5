import { compareAmounts } from '../../../src/domain/amount.ts';
import { declined, flawed, type Mistake } from './mistake.ts';

/*
 * Wallets whose mistake shows only in amounts of thousands.
 */

/** Its column has no room for a payout above this amount, and its code no answer to that. */
export const failsAtPayoutsAbove = (most: string): Mistake => ({
  ...flawed((call) =>
    call.operation === 'settle' && compareAmounts(call.amount, most) > 0 ? declined(5) : undefined,
  ),
  rewrite: (answer, call) =>
    call.operation === 'settle' && compareAmounts(call.amount, most) > 0
      ? { status: 500, body: '' }
      : answer,
});

/** Keeps amounts in a FLOAT, which holds six digits. */
export const keepsSixDigits = flawed((call, books) =>
  call.operation === 'place' || call.operation === 'settle'
    ? books.book({ ...call, amount: String(Number(Number(call.amount).toPrecision(6))) })
    : undefined,
);

/** Writes stakes with a separator of thousands, behind which its database reads no further. */
export const readsStakesUpToTheComma = flawed((call, books) =>
  call.operation === 'place' && compareAmounts(call.amount, '1000') >= 0
    ? books.book({ ...call, amount: call.amount.replace(/\d{3}(?:\.\d+)?$/, '') })
    : undefined,
);

/** Refuses calls of this kind above this amount, with this code. */
export const limits = (operation: 'place' | 'settle', most: string, code: number): Mistake =>
  flawed((call) =>
    call.operation === operation && compareAmounts(call.amount, most) > 0
      ? declined(code)
      : undefined,
  );
