import { sameAmount, subtractAmounts } from '../../domain/amount.ts';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import { advised, type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';

const BONUS = { bonusId: 990_001, bonusTemplateId: 990_002, amount: '2' };

/**
 * Places a freebet. Whether the player pays its stake is open, but a wallet must be consistent.
 * @returns the slip, and what the place moved
 */
async function freebet(trial: Trial): Promise<{ slip: BetSlip; net: string }> {
  const slip = await trial.placed(BONUS);
  const opening = trial.books?.before ?? '0';
  const net = subtractAmounts(await trial.money(), opening);
  return { slip, net };
}

const usual = { rule: RULES.freebet, money: true, meaning: 'costs_money' } as const;

const LIKE_ANY =
  'Book a freebet like any other bet: what its place debits is what its rollback gives back, its settle pays the amount, and its copies change nothing.';

export const freebetCases: readonly Case[] = group(
  'freebet',
  usual,
  advised(LIKE_ANY, [
    {
      id: 'freebet-place',
      title: 'A freebet is accepted',
      expected: '200, the balance falls by the amount (or, with a warning, by nothing)',
      advice:
        'Ask the aggregator whether the player pays the stake of a freebet, which the protocol leaves open: debit all of it or nothing, and give back at a rollback what was debited.',
      run: async (trial) => {
        const { net } = await freebet(trial);
        if (sameAmount(net, '0'))
          trial.warn('a freebet debits nothing: see that the service agrees');
        else await trial.moved('-2', 'a freebet of 2');
      },
    },
    {
      id: 'freebet-rollback',
      title: 'A freebet rolled back leaves the balance as it was',
      expected: '200, what was debited comes back, and no more',
      run: async (trial) => {
        const { slip } = await freebet(trial);
        trial.confirms(await trial.rollback(slip));
        await trial.movedNothing('a freebet rolled back');
      },
    },
    {
      id: 'freebet-won',
      title: 'A won freebet pays the amount of the settle',
      expected: '200, the balance rises by the amount',
      run: async (trial) => {
        const { slip, net } = await freebet(trial);
        trial.accepts(await trial.won(slip, '3'));
        await trial.moved(subtractAmounts(net, '-3'), 'a freebet won');
      },
    },
    {
      id: 'freebet-lost',
      title: 'A lost freebet pays nothing',
      expected: '200, the balance stays',
      run: async (trial) => {
        const { slip, net } = await freebet(trial);
        trial.accepts(await trial.lost(slip));
        await trial.moved(net, 'a freebet lost');
      },
    },
    {
      id: 'freebet-duplicate',
      title: 'The same freebet again counts once',
      expected: 'the balance is what it was after the first',
      meaning: 'absorbed',
      run: async (trial) => {
        const { slip, net } = await freebet(trial);
        await trial.place(slip);
        await trial.moved(net, 'the same freebet again');
      },
    },
    {
      id: 'freebet-unsettle',
      title: 'The payout of a freebet is taken back, and another one made',
      expected: '200 to each, the balance has risen by the second payout alone',
      run: async (trial) => {
        const { slip, net } = await freebet(trial);
        trial.accepts(await trial.won(slip, '3'));
        trial.accepts(await trial.unsettle(slip, '3'));
        if (!(await trial.moved(net, 'a freebet won and unsettled'))) return;
        trial.accepts(await trial.won(slip, '5'));
        await trial.moved(subtractAmounts(net, '-5'), 'a freebet won, unsettled and won again');
      },
    },
    {
      id: 'freebet-settled-rollback',
      title: 'A rollback of a settled freebet undoes stake and payout',
      rule: RULES.rollbackSettled,
      expected: 'whatever the answer, the balance is what it was before the bet',
      run: async (trial) => {
        const { slip } = await freebet(trial);
        trial.accepts(await trial.won(slip, '3'));
        const recorded = await trial.rollback(slip);
        // If money is wrong, no dialect may make this answer look like a confirmation.
        recorded.wanted = { kind: 'confirmation' };
        const answered = describeExchange(recorded.exchange);
        await trial.movedNothing(`a freebet won and rolled back (answered ${answered})`);
      },
    },
    {
      id: 'freebet-settle-repeat',
      title: 'The same settle of a freebet again pays once',
      rule: RULES.repeatedSettle,
      expected: '200, the balance rises once',
      meaning: 'costs_money_when_an_answer_is_lost',
      repeats: true,
      run: async (trial) => {
        const { slip } = await freebet(trial);
        const first = await trial.won(slip, '3');
        trial.accepts(first);
        await trial.open();
        trial.accepts(await trial.won(slip, '3', trial.repeatOf(first)));
        await trial.movedNothing('the same settle of a freebet again');
      },
    },
    {
      id: 'freebet-rollback-repeat',
      title: 'The same rollback of a freebet again refunds once',
      rule: RULES.repeatedRollback,
      expected: '200 (or 400 with code 8), the balance stays',
      meaning: 'costs_money_when_an_answer_is_lost',
      run: async (trial) => {
        const { slip } = await freebet(trial);
        const first = await trial.rollback(slip);
        trial.confirms(first);
        await trial.open();
        trial.confirms(await trial.rollback(slip, 50, trial.repeatOf(first)));
        await trial.movedNothing('the same rollback of a freebet again');
      },
    },
  ]),
);
