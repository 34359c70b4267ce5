import { subtractAmounts } from '../../domain/amount.ts';
import { CODES } from '../../domain/codes.ts';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { describeExchange, namesCode } from '../calls/answer-meaning.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import { hasNoCents } from '../trial/money.ts';
import type { Trial } from '../trial/trial.ts';
import { Skipped } from '../trial/trial-context.ts';
import { NO_CURRENCY } from './balance.ts';
import { forTestPlayers } from './settle.ts';

/** A wallet may limit stakes: that is no fault of its arithmetic. */
const LIMITS: readonly number[] = [CODES.stakeLimit, CODES.lossLimit, CODES.betCountLimit];

async function placeOf(trial: Trial, amount: string): Promise<void> {
  const { answer } = await trial.place(trial.slip({ amount }));
  if (answer.kind === 'accepted') await trial.moved(`-${amount}`, `a place of ${amount}`);
  else {
    trial.warn(`a place of ${amount} was not accepted`);
    await trial.movedNothing(`a refused place of ${amount}`);
  }
}

/** A stake above 1: many a good wallet refuses smaller ones. Skipped if the currency has no fractions. */
async function placedFraction(trial: Trial, amount: string): Promise<BetSlip> {
  const slip = trial.slip({ amount });
  const recorded = await trial.place(slip);
  const { currency } = trial.player;
  if (recorded.answer.kind === 'refused' && hasNoCents(currency)) {
    throw new Skipped(`a place of ${amount} is refused: ${currency} has no coin below 1`);
  }
  trial.accepts(recorded);
  return slip;
}

const usual = { rule: RULES.exact, money: true, meaning: 'costs_money' } as const;

const DECIMALS =
  'Read amounts as decimals (NUMERIC, BigDecimal, integers of the smallest coin), never as binary floats.';

/** Wrong as cents if read as a binary float, multiplied by 100 and truncated, or (1.1, 2.2) rounded up. */
const ODD_CENTS = [
  { stake: '1.13', payout: '1.15' },
  { stake: '1.1', payout: '2.2' },
  { stake: '4.35', payout: '8.2' },
  { stake: '19.99', payout: '16.4' },
] as const;

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
    advice: `${DECIMALS} Where it is refused as signed wrongly, verify over the raw bytes of the body: serialised again it is 2.5.`,
    run: async (trial) => {
      await placedFraction(trial, '2.50');
      await trial.moved('-2.5', 'a place of 2.50');
    },
  },
  {
    id: 'currency-many-decimals',
    title: 'An amount of many decimals is debited exactly, or refused',
    expected: 'the balance falls by exactly 1.23456789; or a refusal and nothing debited',
    advice: DECIMALS,
    run: async (trial) => {
      // No currency has such a coin: refusing the amount is as good as counting it exactly.
      const slip = trial.slip({ amount: '1.23456789' });
      const { answer } = await trial.place(slip);
      if (answer.kind === 'none') trial.warn('a place of 1.23456789 was neither taken nor refused');
      const moved = answer.kind === 'accepted' ? `-${slip.amount}` : '0';
      await trial.moved(moved, `a place of ${slip.amount}`);
    },
  },
  {
    id: 'currency-exponent',
    title: 'An amount written 1e1 is 10, or refused',
    expected: 'the balance falls by exactly 10; or a refusal and nothing debited',
    advice: `${DECIMALS} JSON may write any number with an exponent, and many a language does so with small ones (1.0e-5).`,
    run: async (trial) => {
      const { answer } = await trial.place(trial.slip({ amount: '1e1' }));
      if (answer.kind === 'none') trial.warn('a place of 1e1 was neither taken nor refused');
      await trial.moved(answer.kind === 'accepted' ? '-10' : '0', 'a place of 1e1');
    },
  },
  {
    id: 'currency-exact-sums',
    title: 'Tenths add up',
    expected: 'after stakes of 1.1, 1.2, … 1.7 the balance has fallen by exactly 9.8',
    advice: DECIMALS,
    run: async (trial) => {
      let total = 0;
      for (let tenths = 11; tenths <= 17; tenths += 1) {
        await placedFraction(trial, `1.${tenths % 10}`);
        total += tenths;
        const moved = `-${Math.floor(total / 10)}.${total % 10}`;
        if (!(await trial.moved(moved, 'stakes of tenths'))) return;
      }
    },
  },
  {
    id: 'currency-exact-payout',
    title: 'A payout of cents is paid exactly',
    expected: 'after a stake of 1.1 and a payout of 3.3 the balance has risen by exactly 2.2',
    advice: DECIMALS,
    run: async (trial) => {
      const slip = await placedFraction(trial, '1.1');
      trial.accepts(await trial.won(slip, '3.3'));
      await trial.moved('2.2', 'a stake of 1.1 and a payout of 3.3');
    },
  },
  {
    id: 'currency-odd-cents',
    title: 'Cents that binary floats miss are counted exactly',
    expected:
      'the balance falls by exactly 1.13, 1.1, 4.35 and 19.99, and rises by payouts of exactly 1.15, 2.2, 8.2 and 16.4',
    advice: `${DECIMALS} A float times 100, cut off, makes 112 cents of 1.13.`,
    run: async (trial) => {
      let moved = '0';
      for (const { stake, payout } of ODD_CENTS) {
        const slip = await placedFraction(trial, stake);
        moved = subtractAmounts(moved, stake);
        if (!(await trial.moved(moved, `with a stake of ${stake}`))) return;
        trial.accepts(await trial.won(slip, payout));
        moved = subtractAmounts(moved, `-${payout}`);
        if (!(await trial.moved(moved, `with a payout of ${payout}`))) return;
      }
    },
  },
  {
    id: 'currency-thousands',
    title: 'Payouts and stakes of thousands are counted to the cent',
    expected:
      '200 to a payout of 12345.67 and to a stake of 2345.67 from it; the balance moves by exactly that',
    advice:
      'Keep money in columns that hold all its digits (DECIMAL(18,2); a FLOAT of MySQL has six or seven), and write ' +
      'numbers into the database without separators of thousands: 12,345.67 is an error to one, and 12 to another.',
    run: async (trial) => {
      await forTestPlayers(trial);
      const isWhole = hasNoCents(trial.player.currency);
      const payout = isWhole ? '12345678' : '12345.67';
      const stake = isWhole ? '2345678' : '2345.67';
      const paid = await trial.won(await trial.placed(), payout);
      // As in settle-large-payout: the service learns of it.
      if (paid.answer.kind === 'refused') {
        return trial.warn(`a payout of ${payout} is refused`, 'costs_money');
      }
      trial.accepts(paid);
      const won = subtractAmounts(payout, '1');
      if (!(await trial.moved(won, `a stake of 1 and a payout of ${payout}`))) return;
      const second = trial.slip({ amount: stake });
      const place = await trial.place(second);
      if (place.answer.kind === 'refused') {
        if (LIMITS.includes(place.answer.code ?? 0)) return;
        // It may be a limit: a code that the dialect gives for the status says nothing of that.
        if (!namesCode(place.exchange)) {
          const answered = describeExchange(place.exchange);
          return trial.warn(`a stake of ${stake} is refused: ${answered}`, 'costs_money');
        }
      }
      trial.accepts(place);
      await trial.moved(subtractAmounts(won, stake), `with a stake of ${stake} from it`);
      await trial.giveBack(second);
    },
  },
]);
