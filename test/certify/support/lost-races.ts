import { compareAmounts, sameAmount } from '../../../src/domain/amount.ts';
import { flawed, type Mistake } from './mistake.ts';

/*
 * Wallets that lose a race once, as races are lost: when the cases are run again with a dialect, it does not show.
 */

/** Beside another mistake. */
const beside = (mistake: Mistake, race: Mistake): Mistake => ({
  ...mistake,
  flaw: (call, books) => race.flaw?.(call, books) ?? mistake.flaw?.(call, books),
});

/** Lends the money of one of several places of the whole balance. */
export function lendsOnce(mistake: Mistake): Mistake {
  let lent = false;
  const race = flawed((call, books) => {
    if (lent || call.operation !== 'place' || compareAmounts(call.amount, '900') < 0) return;
    const verdict = books.book(call);
    if (verdict.kind === 'accepted') return verdict;
    lent = true;
    books.credit(call.userId, call.currency, call.amount);
    const accepted = books.book(call);
    books.debit(call.userId, call.currency, call.amount);
    return accepted;
  });
  return beside(mistake, race);
}

/** Confirms one stake of 4 that another place has overwritten. */
export function losesOneStake(mistake: Mistake): Mistake {
  let lost = false;
  const race = flawed((call, books) => {
    if (lost || call.operation !== 'place' || !sameAmount(call.amount, '4')) return;
    lost = true;
    const verdict = books.book(call);
    books.credit(call.userId, call.currency, call.amount);
    return verdict;
  });
  return beside(mistake, race);
}
