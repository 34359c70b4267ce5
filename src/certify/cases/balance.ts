import { sameAmount } from '../../domain/amount.ts';
import { isOfOtherCurrency, missingInBalance } from '../../domain/read-repairs.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import { amountIn } from '../trial/money.ts';
import type { Trial } from '../trial/trial.ts';

/** ISO 4217's code for tests: nobody has an account in it. */
export const NO_CURRENCY = 'XTS';

async function documentOfBalance(trial: Trial) {
  const recorded = await trial.balance();
  if (!trial.accepts(recorded) || recorded.answer.kind !== 'accepted') return undefined;
  return recorded.answer.document;
}

const usual = { rule: RULES.balance, money: false, meaning: 'costs_money' } as const;

export const balanceCases: readonly Case[] = group('balance', usual, [
  {
    id: 'balance-amount',
    title: 'The balance is a number',
    expected: 'amount is a JSON number',
    advice: 'Write amount without quotes: as a text the player sees no balance.',
    run: async (trial) => {
      const document = await documentOfBalance(trial);
      if (document === undefined) return;
      if (document.numberText('amount') === undefined) trial.fail('amount is not a JSON number');
    },
  },
  {
    id: 'balance-user',
    title: "The balance names the profile's player",
    expected: 'userId is the one of the profile',
    meaning: 'absorbed',
    advice: 'Answer the same userId as in the profile.',
    run: async (trial) => {
      const document = await documentOfBalance(trial);
      if (document === undefined || document.value.userId === trial.player.userId) return;
      trial.fail(`userId is not the text ${trial.player.userId}`);
    },
  },
  {
    id: 'balance-currency',
    title: 'The balance names its currency',
    expected: 'currency is the one that was asked for',
    advice:
      'Answer the currency that was asked for: the gateway supplies it where it is missing, and ' +
      'takes no balance that names another.',
    run: async (trial) => {
      const document = await documentOfBalance(trial);
      if (document === undefined) return;
      const { currency } = trial.player;
      if (isOfOtherCurrency(document.value, currency)) trial.fail(`currency is not ${currency}`);
      else if (missingInBalance(document.value).includes('currency')) {
        trial.fail('currency is missing', 'cosmetic');
      }
    },
  },
  {
    id: 'balance-steady',
    title: 'The balance stays while nothing happens',
    expected: 'two balances are the same amount',
    advice: 'Let nobody else play with the test player while the wallet is certified.',
    run: async (trial) => {
      const first = amountIn((await trial.balance()).answer);
      const second = amountIn((await trial.balance()).answer);
      if (first === undefined || second === undefined) trial.fail('the balance cannot be read');
      else if (!sameAmount(first, second)) {
        trial.fail(`the balance went from ${first} to ${second}: does somebody else play?`);
      }
    },
  },
  {
    id: 'balance-token-unknown',
    title: 'A balance for an unknown token is refused',
    rule: RULES.token,
    expected: '400 with code 3 (or 4) to a token that looks like a real one',
    meaning: 'lets_somebody_in',
    advice: 'Look the token up, and answer 400 with code 3 where it was never given out.',
    run: async (trial) => {
      trial.refuses(await trial.balance({ token: trial.unknownToken() }), [3, 4]);
    },
  },
  {
    id: 'balance-other-user',
    title: 'A token tells the balance of its own player only',
    rule: RULES.ownToken,
    expected: '400 with code 3 to a userId that is not of the token',
    meaning: 'lets_somebody_in',
    advice: 'Take the player from the token, and refuse a userId that is not its own with code 3.',
    run: async (trial) => {
      const recorded = await trial.balance({ userId: trial.stranger() });
      const { answer } = recorded;
      const named = answer.kind === 'accepted' ? answer.document?.value.userId : undefined;
      if (named === trial.player.userId) {
        trial.warn(
          'the userId of the request is ignored: the balance is of the player of the token',
        );
      } else trial.refuses(recorded, [3, 4, 5], 'warn');
    },
  },
  {
    id: 'balance-other-currency',
    title: 'A token is good for its own currency only',
    rule: RULES.currency,
    expected: `400 with code 3 to ${NO_CURRENCY}, a currency that nobody has`,
    meaning: 'absorbed',
    advice: 'Refuse a currency that the token was not given for with code 3.',
    run: async (trial) => {
      const recorded = await trial.balance({ currency: NO_CURRENCY });
      const { answer } = recorded;
      const named = answer.kind === 'accepted' ? answer.document?.value.currency : undefined;
      if (named === trial.player.currency) {
        trial.warn('the currency of the request is ignored: the balance is in that of the token');
      } else trial.refuses(recorded, [3, 4, 5], 'warn');
    },
  },
]);
