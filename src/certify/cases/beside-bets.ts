import { compareAmounts } from '../../domain/amount.ts';
import { CODES } from '../../domain/codes.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import { stakes } from '../trial/money.ts';
import type { Trial } from '../trial/trial.ts';
import { Skipped } from '../trial/trial-context.ts';
import { OTHER_NEEDED } from './place.ts';
import { forTestPlayers } from './settle.ts';
import { needsUpdates } from './update.ts';

/** How many bets are placed beside the other calls. */
const BETS = 10;
/** How many bets get an update meanwhile. */
const UPDATED = 5;

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

const usual = { rule: RULES.concurrent, money: true, meaning: 'costs_money' } as const;

const advice =
  "Write what the call changes, and nothing else of the player: an object-relational mapper that saves the whole row puts back the balance that it has read, and undoes the bets of meanwhile. Change the balance in a statement of its own (UPDATE … SET balance = balance - stake), or lock the player's row before you read it.";

/** A place is refused with these because of the player, whatever the wallet is like. */
const OF_THE_PLAYER: readonly (number | undefined)[] = [
  CODES.blocked,
  CODES.stakeLimit,
  CODES.lossLimit,
  CODES.betCountLimit,
  CODES.selfExcluded,
  CODES.notVerified,
  CODES.underAge,
];

/** Places one bet of the second player. @returns its money after it @throws Skipped if it cannot place others */
async function readyToBet(
  trial: Trial,
  other: { readonly userId: string; readonly token: string },
) {
  const money = await trial.theirMoney();
  if (money === undefined || compareAmounts(money, String(BETS + 1)) < 0) {
    throw new Skipped(`the second player needs at least ${BETS + 1}`);
  }
  const { answer } = await trial.place(trial.slip({ ...other, amount: '1' }));
  if (answer.kind === 'refused' && OF_THE_PLAYER.includes(answer.code)) {
    throw new Skipped(`the second player may place no bets: code ${answer.code}`);
  }
  return await trial.theirMoney();
}

export const besideReadsCases: readonly Case[] = group('place', usual, [
  {
    id: 'place-beside-reads',
    title: 'Places beside profiles and balances all debit',
    expected: `${BETS} places among as many profiles and balances; the balance falls by all of them`,
    advice,
    run: async (trial: Trial) => {
      const calls = times(BETS, () => [trial.balance(), trial.placed(), trial.profile()]);
      await Promise.all(calls.flat());
      await trial.moved(stakes(BETS, '1'), `${BETS} places of 1 beside profiles and balances`);
    },
  },
  {
    id: 'place-beside-other-player',
    title: 'Places of two players at the same time each debit their own player',
    expected: `${BETS} places of each of two players at once; each balance falls by its own stakes (needs --other-user)`,
    advice:
      'Keep player, token and amount with the request, not where all requests find them: a variable of the module, a ' +
      'field of a controller or service that exists once, a connection that is shared.',
    run: async (trial: Trial) => {
      const { other } = trial.context;
      if (other === undefined) throw new Skipped(OTHER_NEEDED);
      await forTestPlayers(trial, other);
      const theirs = await readyToBet(trial, other);
      const calls = times(BETS, () => [
        trial.placed({ amount: '2' }),
        trial.placed({ ...other, amount: '1' }),
      ]);
      await Promise.all(calls.flat());
      const what = `${BETS} places of 2 beside ${BETS} places of 1 of another player`;
      await trial.moved(stakes(BETS, '2'), what);
      await trial.theirsMoved(theirs, stakes(BETS, '1'), what);
    },
  },
]);

export const besideUpdatesCases: readonly Case[] = group('update', usual, [
  {
    id: 'update-beside-places',
    title: 'Places beside updates of other bets all debit',
    expected: `${BETS} places while other bets are updated; the balance falls by all of them`,
    advice,
    run: async (trial: Trial) => {
      needsUpdates(trial);
      const held = await Promise.all(times(UPDATED, () => trial.placed()));
      await trial.open();
      const calls = held.map((slip) => [
        trial.update(slip, '1.7'),
        ...times(BETS / UPDATED, () => trial.placed()),
      ]);
      await Promise.all(calls.flat());
      await trial.moved(stakes(BETS, '1'), `${BETS} places of 1 beside updates of other bets`);
    },
  },
]);
