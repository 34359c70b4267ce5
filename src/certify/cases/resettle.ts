import { sameAmount, subtractAmounts } from '../../domain/amount.ts';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { type Case, type CaseText, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';
import { afterSpending, judgeSpent } from './spent-payout.ts';

/** The wallet's rules forbid changing a result, or the player's balance does. */
const BLOCKED = [20, 21];

function isChangeBlocked(code: number | undefined): boolean {
  return code !== undefined && BLOCKED.includes(code);
}

function isBlocked({ answer }: RecordedCall): boolean {
  return answer.kind === 'refused' && isChangeBlocked(answer.code);
}

const REPLACE =
  'Take back what the bet has paid, whatever resultType paid it, then pay the new amount, in one ' +
  'transaction; or refuse with code 20 and move nothing.';

/** What a bet of 2 may end with, and its payout. */
interface BetResult {
  readonly amount: string;
  readonly send: (trial: Trial, slip: BetSlip) => Promise<RecordedCall>;
}

const won = (amount: string): BetResult => ({
  amount,
  send: (trial, slip) => trial.won(slip, amount),
});
const LOST: BetResult = { amount: '0', send: (trial, slip) => trial.lost(slip) };
const REFUND: BetResult = { amount: '2', send: (trial, slip) => trial.refunded(slip) };
const CASHOUT: BetResult = { amount: '1', send: (trial, slip) => trial.cashedOut(slip, '1') };

/** A settled bet gets another result; a wallet may also refuse that, with code 20 or 21. */
function correction(id: string, title: string, from: BetResult, to: BetResult): CaseText {
  return {
    id: `resettle-${id}`,
    title,
    expected: '200, the first result replaced by the second; or 400 with code 20 or 21',
    advice: REPLACE,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      trial.accepts(await from.send(trial, slip));
      const recorded = await to.send(trial, slip);
      const { answer } = recorded;
      const isUnchanged = answer.kind === 'refused' && isChangeBlocked(answer.code);
      if (isUnchanged) trial.remark(`the wallet does not change results: code ${answer.code}`);
      else trial.accepts(recorded);
      const net = subtractAmounts(isUnchanged ? from.amount : to.amount, slip.amount);
      await trial.moved(net, `a payout of ${from.amount} changed to ${to.amount}`);
    },
  };
}

/** A cancelled goal changes the results of many bets at once. */
const CONCURRENT = 12;

const usual = { rule: RULES.resettle, money: true, meaning: 'costs_money' } as const;

export const resettleCases: readonly Case[] = group('settle', usual, [
  correction('up', 'A result corrected upwards pays the new amount', won('3'), won('5')),
  correction('down', 'A result corrected downwards takes the difference back', won('5'), won('3')),
  correction('zero', 'A win corrected to a loss takes the payout back', won('4'), LOST),
  correction('from-zero', 'A loss corrected to a win is paid', LOST, won('4')),
  {
    id: 'resettle-back',
    title: 'A result corrected and corrected back pays the first amount',
    expected: '200 each time, the last amount stands; or 400 with code 20 or 21',
    advice: REPLACE,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      trial.accepts(await trial.won(slip, '3'));
      const second = await trial.won(slip, '5');
      const third = await trial.won(slip, '3');
      if (second.answer.kind === 'accepted') trial.accepts(third);
      else trial.refuses(second, BLOCKED);
      await trial.moved('1', 'a payout of 3 changed to 5 and back');
    },
  },
  correction('cashout-won', 'A cashout corrected to a win pays the win alone', CASHOUT, won('5')),
  correction(
    'won-refund',
    'A win whose event is cancelled afterwards leaves the stake alone',
    won('5'),
    REFUND,
  ),
  correction('refund-won', 'A refund corrected to a win pays the win alone', REFUND, won('5')),
  correction('cashout-lost', 'A cashout corrected to a loss is taken back', CASHOUT, LOST),
  correction(
    'cashout-refund',
    'A cashout whose event is cancelled afterwards leaves the stake alone',
    CASHOUT,
    REFUND,
  ),
  correction(
    'lost-refund',
    'A loss whose event is cancelled afterwards gives the stake back',
    LOST,
    REFUND,
  ),
  correction('refund-lost', 'A refund corrected to a loss is taken back', REFUND, LOST),
  {
    id: 'resettle-concurrent-bets',
    title: 'Corrected results of different bets at the same time all replace the first',
    rule: RULES.concurrent,
    expected: `200 to each of ${CONCURRENT}, every payout replaced; or 400 with code 20`,
    advice: `${REPLACE} Change the balance in one statement or under a lock of the player, as for a first result: read, add and write in steps loses corrections that come at the same time.`,
    run: async (trial) => {
      const slips = await Promise.all(Array.from({ length: CONCURRENT }, () => trial.placed()));
      await Promise.all(slips.map((slip) => trial.won(slip, '3')));
      // Other cases judge the first results.
      await trial.open();
      const answers = await Promise.all(slips.map((slip) => trial.won(slip, '5')));
      const made = answers.filter((recorded) => !isBlocked(recorded));
      for (const recorded of made) trial.accepts(recorded);
      await trial.moved(
        String(2 * made.length),
        `${made.length} payouts of 3 changed to 5 at once`,
      );
    },
  },
  {
    id: 'resettle-spent-payout',
    title: 'A win corrected to a loss takes a payout back that was spent',
    expected:
      '200, the payout taken back, although the balance falls below 0; or 400 with code 21 (or 20)',
    advice:
      'Let a corrected result take the balance below 0, or refuse it with code 21 and move nothing; never ' +
      'answer 200 to one that you have not done in full.',
    run: async (trial) => {
      const recorded = await afterSpending(trial, (slip) => trial.lost(slip));
      const what = 'the correction to a loss of a payout of 3 that was spent';
      await judgeSpent(trial, recorded, what, isChangeBlocked);
    },
  },
  {
    id: 'resettle-same-amount',
    title: 'A refund corrected to a win of the same amount pays nothing more',
    expected: '200, or 400 with code 20; the balance stays',
    advice:
      'Pay the difference to what the bet has paid, whatever the requestId and the resultType say. No dialect keeps such a result from being sent.',
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      trial.accepts(await trial.refunded(slip));
      const before = await trial.money();
      await trial.won(slip, '2');
      const more = subtractAmounts(await trial.money(), before);
      if (sameAmount(more, '0')) return;
      // Rare, and the service's documents do not mention it: no reason to refuse the wallet.
      trial.warn(`a refund of 2 changed to a win of 2 moved ${more}`, 'costs_money');
    },
  },
]);
