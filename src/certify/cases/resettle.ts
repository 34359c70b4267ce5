import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { type Case, group } from '../case.ts';
import type { Sighting } from '../recorded-call.ts';
import type { Trial } from '../trial.ts';

const RULE = 'docs/protocol.md, Bet lifecycle (settle again, amount differs)';

/** The wallet's rules forbid changing a result, or the player's balance does. */
const BLOCKED = [20, 21];

/** A settled bet gets another result; a wallet may also refuse that, with code 20 or 21. */
async function resettle(trial: Trial, from: string, to: string): Promise<void> {
  const slip = await trial.placed({ amount: '2' });
  trial.accepts(await settleFor(trial, slip, from));
  await changed(trial, slip, await settleFor(trial, slip, to), from, to);
}

async function changed(trial: Trial, slip: BetSlip, answer: Sighting, from: string, to: string) {
  const { meaning } = answer;
  const isBlocked =
    meaning.kind === 'refused' && meaning.code !== undefined && BLOCKED.includes(meaning.code);
  if (isBlocked) trial.remark(`the wallet does not change results: code ${meaning.code}`);
  else trial.accepts(answer);
  const stands = isBlocked ? from : to;
  await trial.moved(net(slip.amount, stands), `a payout of ${from} changed to ${to}`);
}

function settleFor(trial: Trial, slip: BetSlip, amount: string): Promise<Sighting> {
  return amount === '0' ? trial.lost(slip) : trial.won(slip, amount);
}

/** Payout minus stake; whole numbers alone are used here. */
function net(stake: string, payout: string): string {
  return String(BigInt(payout) - BigInt(stake));
}

export const resettleCases: readonly Case[] = group('settle', { rule: RULE, money: true }, [
  {
    id: 'resettle-up',
    title: 'A result corrected upwards pays the new amount',
    expected: '200, the first payout replaced by the second; or 400 with code 20',
    run: (trial) => resettle(trial, '3', '5'),
  },
  {
    id: 'resettle-down',
    title: 'A result corrected downwards takes the difference back',
    expected: '200, the first payout replaced by the second; or 400 with code 20 or 21',
    run: (trial) => resettle(trial, '5', '3'),
  },
  {
    id: 'resettle-zero',
    title: 'A win corrected to a loss takes the payout back',
    expected: '200, the payout taken back; or 400 with code 20 or 21',
    run: (trial) => resettle(trial, '4', '0'),
  },
  {
    id: 'resettle-from-zero',
    title: 'A loss corrected to a win is paid',
    expected: '200, the payout made; or 400 with code 20',
    run: (trial) => resettle(trial, '0', '4'),
  },
  {
    id: 'resettle-back',
    title: 'A result corrected and corrected back pays the first amount',
    expected: '200 each time, the last amount stands; or 400 with code 20 or 21',
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      trial.accepts(await trial.won(slip, '3'));
      const second = await trial.won(slip, '5');
      const third = await trial.won(slip, '3');
      if (second.meaning.kind === 'accepted') trial.accepts(third);
      else trial.refuses(second, BLOCKED);
      await trial.moved('1', 'a payout of 3 changed to 5 and back');
    },
  },
]);
