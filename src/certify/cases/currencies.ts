import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial.ts';
import { NO_CURRENCY } from './balance.ts';

async function placeOf(trial: Trial, amount: string): Promise<void> {
  const { answer } = await trial.place(trial.slip({ amount }));
  if (answer.kind === 'accepted') await trial.moved(`-${amount}`, `a place of ${amount}`);
  else {
    trial.warn(`a place of ${amount} was not accepted`);
    await trial.movedNothing(`a refused place of ${amount}`);
  }
}

const usual = { rule: RULES.exact, money: true, meaning: 'costs_money' } as const;

const DECIMALS =
  'Read amounts as decimals (NUMERIC, BigDecimal, integers of the smallest coin), never as binary floats.';

export const currencyCases: readonly Case[] = group('currencies', usual, [
  {
    id: 'currency-configured',
    title: "The profile's currencies are those of the operator's file",
    expected: "every currency of the profile stands in the operator's file",
    money: false,
    meaning: 'cosmetic',
    advice:
      "Put the currencies of your players into the operator's file, or keep them out of the profile.",
    run: async (trial) => {
      const { answer } = await trial.profile();
      const found = answer.kind === 'accepted' ? answer.document?.value.currencies : undefined;
      const names: readonly unknown[] = Array.isArray(found) ? found : [];
      const missing = names.filter((one) => !trial.context.currencies.some((own) => own === one));
      if (missing.length > 0)
        trial.warn(`not in the operator's file: ${missing.join(', ')}`, 'cosmetic');
    },
  },
  {
    id: 'currency-other-place',
    title: 'A place in a currency that the token is not for is refused',
    expected: '400 with code 3 or 5, nothing debited',
    rule: RULES.currency,
    meaning: 'absorbed',
    advice: 'Refuse a currency that the token was not given for with code 3.',
    run: async (trial) => {
      const recorded = await trial.place(trial.slip({ currency: NO_CURRENCY }));
      trial.refuses(recorded, [3, 4, 5], 'warn');
      await trial.movedNothing(`a place in ${NO_CURRENCY}`);
    },
  },
  {
    id: 'currency-cents',
    title: 'A place of 0.01 debits 0.01',
    expected: '200, the balance falls by exactly that',
    advice: DECIMALS,
    run: (trial) => placeOf(trial, '0.01'),
  },
  {
    id: 'currency-trailing-zero',
    title: 'An amount written 2.50 is 2.5',
    expected: '200, the balance falls by 2.5',
    advice: DECIMALS,
    run: async (trial) => {
      await trial.placed({ amount: '2.50' });
      await trial.moved('-2.5', 'a place of 2.50');
    },
  },
  {
    id: 'currency-many-decimals',
    title: 'An amount of many decimals is debited exactly, or refused',
    expected: 'the balance falls by exactly 1.23456789; or a refusal and nothing debited',
    advice: DECIMALS,
    run: (trial) => placeOf(trial, '1.23456789'),
  },
  {
    id: 'currency-exact-sums',
    title: 'Tenths add up',
    expected: 'after stakes of 0.1, 0.2, … 0.7 the balance has fallen by exactly 2.8',
    advice: DECIMALS,
    run: async (trial) => {
      let total = 0;
      for (let tenths = 1; tenths <= 7; tenths += 1) {
        await trial.placed({ amount: `0.${tenths}` });
        total += tenths;
        const moved = `-${Math.floor(total / 10)}.${total % 10}`;
        if (!(await trial.moved(moved, 'stakes of tenths'))) return;
      }
    },
  },
  {
    id: 'currency-exact-payout',
    title: 'A payout of cents is paid exactly',
    expected: 'after a stake of 0.1 and a payout of 0.3 the balance has risen by exactly 0.2',
    advice: DECIMALS,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '0.1' });
      trial.accepts(await trial.won(slip, '0.3'));
      await trial.moved('0.2', 'a stake of 0.1 and a payout of 0.3');
    },
  },
]);
