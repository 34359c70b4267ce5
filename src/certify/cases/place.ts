import { addAmounts, compareAmounts } from '../../domain/amount.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import { hasNoCents } from '../trial/money.ts';
import type { Trial } from '../trial/trial.ts';
import { Skipped } from '../trial/trial-context.ts';

const DEBIT =
  'Debit the stake and write the bet in one transaction, with a condition on the balance ' +
  '(UPDATE … WHERE balance >= stake).';

/** Two alone may miss each other by a millisecond, even at a wallet that reads, compares and writes in steps. */
const RIVALS = 5;

const usual = { rule: RULES.place, money: true, meaning: 'costs_money' } as const;

export const placeCases: readonly Case[] = group('place', usual, [
  {
    id: 'place-enough',
    title: 'A place debits the stake',
    expected: '200, the balance falls by the amount',
    advice: DEBIT,
    run: async (trial) => {
      await trial.placed({ amount: '3' });
      await trial.moved('-3', 'a place of 3');
    },
  },
  {
    id: 'place-not-enough',
    title: 'A place above the balance is declined',
    rule: RULES.notEnough,
    expected: '400 with code 7, nothing debited',
    advice: 'Refuse a place above the balance with 400 and code 7.',
    run: async (trial) => {
      const amount = addAmounts(await trial.open(), '1');
      trial.refuses(await trial.place(trial.slip({ amount })), [7]);
      await trial.movedNothing('a place above the balance');
      if (hasNoCents(trial.player.currency)) return;
      // A wallet that compares whole units would lend the rest. It may also have no such coin.
      const cents = addAmounts(await trial.open(), '0.01');
      trial.refuses(await trial.place(trial.slip({ amount: cents })), [7, 5]);
      await trial.movedNothing('a place of a cent above the balance');
    },
  },
  {
    id: 'place-exact-balance',
    title: 'A place may take the whole balance, and no more',
    expected: '200 to a place of the whole balance, then 400 with code 7 to one of 1',
    advice: 'Compare the stake with the balance as decimals: equal is enough.',
    run: async (trial) => {
      const amount = await wholeBalance(trial);
      const slip = trial.slip({ amount });
      if (!trial.accepts(await trial.place(slip))) return;
      trial.refuses(await trial.place(trial.slip()), [7]);
      await trial.moved(`-${amount}`, 'a place of the whole balance');
      await trial.giveBack(slip);
    },
  },
  {
    id: 'place-zero',
    title: 'A place of 0 is answered',
    expected: '200 or 400 with a code, nothing debited',
    advice: 'Answer a place of 0 like any other, or refuse it with code 5.',
    run: async (trial) => {
      const recorded = await trial.place(trial.slip({ amount: '0' }));
      if (recorded.answer.kind === 'none') {
        trial.fail(`no proper answer: ${describeExchange(recorded.exchange)}`, 'absorbed');
      }
      await trial.movedNothing('a place of 0');
    },
  },
  {
    id: 'place-negative',
    title: 'A place of a negative amount is refused',
    expected: '400 with code 5, the balance must not grow',
    meaning: 'absorbed',
    advice: 'Refuse amounts below 0 with code 5.',
    run: async (trial) => {
      trial.refuses(await trial.place(trial.slip({ amount: '-1' })), [5], 'warn');
      await trial.movedNothing('a place of -1');
    },
  },
  {
    id: 'place-token-unknown',
    title: 'A place with an unknown token is refused',
    rule: RULES.token,
    expected: '400 with code 3 (or 4) to a token that looks like a real one, nothing debited',
    meaning: 'lets_somebody_in',
    advice: 'Look the token up, and answer 400 with code 3 where it was never given out.',
    run: async (trial) => {
      trial.refuses(await trial.place(trial.slip({ token: trial.unknownToken() })), [3, 4]);
      await trial.movedNothing('a place with an unknown token');
    },
  },
  {
    id: 'place-token-missing',
    title: 'A place without a token is refused',
    rule: RULES.token,
    expected: '400 with code 3 or 5, nothing debited',
    meaning: 'lets_somebody_in',
    advice: 'Refuse a place that carries no token with code 3.',
    run: async (trial) => {
      const recorded = await trial.place(trial.slip(), { more: { token: undefined } });
      trial.refuses(recorded, [3, 4, 5], 'warn');
      await trial.movedNothing('a place without a token');
    },
  },
  {
    id: 'place-token-other-user',
    title: 'A token places bets for its own player only',
    rule: RULES.ownToken,
    expected: '400 with code 3 or 5 to another userId beside the token, nothing debited',
    meaning: 'absorbed',
    advice: 'Refuse a place whose userId is not the one of its token with code 3.',
    run: async (trial) => {
      const theirs = await trial.theirMoney();
      const recorded = await trial.place(trial.slip({ userId: trial.stranger() }));
      trial.refuses(recorded, [3, 4, 5], 'warn');
      await trial.movedNothing('a place for another userId');
      await trial.theirsUnmoved(theirs, 'a place for their userId with a token of somebody else');
    },
  },
  {
    id: 'place-other-token',
    title: "Another player's token places nothing for this player",
    rule: RULES.ownToken,
    expected: "400 with code 3 or 5, neither player's money moves (needs --other-user)",
    meaning: 'lets_somebody_in',
    advice: 'Refuse a place whose token is not of its userId with code 3, and debit nobody.',
    run: async (trial) => {
      const { other } = trial.context;
      if (other === undefined) throw new Skipped(OTHER_NEEDED);
      const theirs = await trial.theirMoney();
      trial.refuses(await trial.place(trial.slip({ token: other.token })), [3, 4, 5], 'warn');
      await trial.movedNothing("a place with another player's token");
      await trial.theirsUnmoved(theirs, 'a place with their token for somebody else');
    },
  },
  {
    id: 'place-concurrent',
    title: 'Places of different bets at the same time all debit',
    rule: RULES.concurrent,
    expected: '200 to each of 5 different stakes, the balance falls by all of them',
    advice: `${DEBIT} Keep nothing of a request where other requests find it.`,
    run: async (trial) => {
      const calls = ['1', '2', '3', '4', '5'].map((amount) => trial.place(trial.slip({ amount })));
      for (const recorded of await Promise.all(calls)) trial.accepts(recorded);
      await trial.moved('-15', 'places of 1 to 5');
    },
  },
  {
    id: 'place-concurrent-overdraw',
    title: 'Places at the same time cannot take more than the balance',
    rule: RULES.concurrent,
    expected: `of ${RIVALS} places of the whole balance one is accepted, the others declined with code 7`,
    advice: DEBIT,
    run: async (trial) => {
      const amount = await wholeBalance(trial);
      const slips = Array.from({ length: RIVALS }, () => trial.slip({ amount }));
      const answers = await Promise.all(slips.map((slip) => trial.place(slip)));
      const accepted = answers.filter(({ answer }) => answer.kind === 'accepted');
      if (accepted.length !== 1) trial.fail(`${accepted.length} of the ${RIVALS} were accepted`);
      for (const recorded of answers) {
        if (recorded.answer.kind !== 'accepted') trial.refuses(recorded, [7]);
      }
      await trial.moved(`-${amount}`, `${RIVALS} places of the whole balance`);
      for (const slip of slips) await trial.giveBack(slip);
    },
  },
  {
    id: 'place-method',
    title: 'A settle sent by POST is refused',
    rule: RULES.method,
    expected: 'anything but 200, nothing paid',
    meaning: 'absorbed',
    advice: 'Take POST for places alone, and refuse another type there with code 5.',
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.won(slip, '3', { method: 'POST' });
      if (recorded.answer.kind === 'accepted') trial.warn('POST with type 2 was accepted');
      await trial.moved('-1', 'a settle by POST');
    },
  },
]);

/** Why a case about two players was not tried. */
export const OTHER_NEEDED = 'needs a second player: give --other-user and --other-token';

/** @throws Skipped if none is left: earlier cases have shown a wallet that lends, or keeps stakes */
async function wholeBalance(trial: Trial): Promise<string> {
  const amount = await trial.open();
  if (compareAmounts(amount, '0') > 0) return amount;
  throw new Skipped(`the player has no money left: the balance is ${amount}`);
}
