import { sameAmount, subtractAmounts } from '../../domain/amount.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import { hasNoCents } from '../trial/money.ts';
import { userIdIn } from '../trial/sandbox.ts';
import type { Trial } from '../trial/trial.ts';
import { Skipped } from '../trial/trial-context.ts';
import { settleEnded } from './ended-session.ts';
import { OTHER_NEEDED } from './place.ts';

const CREDIT = 'Credit the amount of the settle, no more and no less, and keep it with the bet.';
const OWN_BET =
  "Find the bet by transactionId, compare userId with the bet's, and refuse with code 5 where they differ.";
const CONCURRENT = 12;

const usual = { rule: RULES.settle, money: true, meaning: 'costs_money' } as const;

export const settleCases: readonly Case[] = group('settle', usual, [
  {
    id: 'settle-won',
    title: 'A won bet is paid, without a token',
    expected: '200, the balance rises by the amount',
    advice: 'Pay by transactionId: a settle comes from the service, without a token.',
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.won(slip, '3');
      if (!trial.accepts(recorded)) {
        const { token } = trial.player;
        const result = { amount: '3', resultType: 'won', token } as const;
        await tryWithToken(trial, 'a settle', () => trial.settle(slip, result));
      }
      await trial.moved('2', 'a stake of 1 and a payout of 3');
    },
  },
  {
    id: 'settle-lost',
    title: 'A lost bet pays nothing',
    expected: '200 to amount 0, the balance stays',
    advice: CREDIT,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.lost(slip));
      await trial.moved('-1', 'a lost bet of 1');
    },
  },
  {
    id: 'settle-other-coefficient',
    title: 'A result is paid whatever coefficient it names',
    expected:
      '200 to a settle whose coefficient is not that of the place, the balance rises by the amount',
    advice: `${CREDIT} Compare no coefficient: it changes by updates, which your wallet may not have seen yet.`,
    run: async (trial) => {
      const slip = await trial.placed();
      // As of an express whose other legs were returned: no bet is placed at odds of 1.
      trial.accepts(await trial.won({ ...slip, coefficient: '1' }, '3'));
      await trial.moved('2', 'a settle with another coefficient');
    },
  },
  {
    id: 'settle-refund',
    title: 'A refund gives the stake back',
    expected: '200 to resultType refund, the balance rises by the amount',
    advice: CREDIT,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      trial.accepts(await trial.refunded(slip));
      await trial.movedNothing('a refunded bet');
    },
  },
  {
    id: 'settle-part-refund',
    title: 'A refund pays its amount, also where that is not the stake',
    expected: '200 to a refund of 1 for a stake of 3, the balance rises by 1',
    advice: `${CREDIT} A refund may be of a part of the stake.`,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      trial.accepts(await trial.settle(slip, { amount: '1', resultType: 'refund' }));
      await trial.moved('-2', 'a stake of 3 and a refund of 1');
    },
  },
  {
    id: 'settle-part-lost',
    title: 'A lost bet with an amount is paid that amount',
    expected: '200 to resultType lost with an amount of 1, the balance rises by it',
    advice: `${CREDIT} The amount decides, not resultType.`,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      const before = await trial.money();
      const recorded = await trial.settle(slip, { amount: '1', resultType: 'lost' });
      const paid = subtractAmounts(await trial.money(), before);
      if (sameAmount(paid, '1')) return;
      const { kind } = recorded.answer;
      // The service's documents have no such result: no reason to refuse the wallet.
      trial.warn(`a lost bet with an amount of 1 was ${kind}, and paid ${paid}`, 'costs_money');
    },
  },
  {
    id: 'settle-large-payout',
    title: 'A large win is paid in full',
    expected: '200, the balance rises by the amount; it is taken back afterwards',
    advice: `${CREDIT} A limit on winnings is the service's to keep: what it settles is won. Leave room for it in your database.`,
    run: async (trial) => {
      await forTestPlayers(trial);
      const amount = hasNoCents(trial.player.currency) ? '100000000' : '1000000';
      const slip = await trial.placed();
      const { answer, exchange } = await trial.won(slip, amount);
      if (answer.kind === 'accepted') {
        return void (await trial.moved(subtractAmounts(amount, '1'), `a payout of ${amount}`));
      }
      const why = `a payout of ${amount} is not taken: ${describeExchange(exchange)}`;
      // The service pays a refused result in another way; one without an answer it repeats for good.
      if (answer.kind === 'refused') trial.warn(why, 'costs_money');
      else trial.fail(why);
    },
  },
  {
    id: 'settle-cashout',
    title: 'A cashout with a token is paid',
    rule: RULES.cashout,
    expected: '200, the balance rises by the amount',
    advice: CREDIT,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      trial.accepts(await trial.cashedOut(slip, '1'));
      await trial.moved('-1', 'a bet of 2 cashed out for 1');
    },
  },
  {
    id: 'settle-cashout-no-token',
    title: 'A cashout without a token is refused',
    rule: RULES.cashout,
    expected: '400 with code 3 (or 4, 5), nothing paid',
    meaning: 'absorbed',
    advice: 'Check the token of a cashout; the gateway does as well.',
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.settle(slip, { amount: '1', resultType: 'cashout' });
      trial.refuses(recorded, [3, 4, 5], 'warn');
      await trial.moved('-1', 'a cashout without a token');
    },
  },
  {
    id: 'settle-cashout-unknown-token',
    title: 'A cashout with an unknown token is refused',
    rule: RULES.cashout,
    expected: '400 with code 3 (or 4), nothing paid',
    meaning: 'absorbed',
    advice: 'Check the token of a cashout; the gateway does as well.',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.refuses(await trial.cashedOut(slip, '1', trial.unknownToken()), [3, 4], 'warn');
      await trial.moved('-1', 'a cashout with an unknown token');
    },
  },
  {
    id: 'settle-cashout-other-token',
    title: "Another player's token cashes nothing out",
    rule: RULES.cashout,
    expected: '400 with code 3 (or 4), nothing paid to anybody (needs --other-user)',
    meaning: 'lets_somebody_in',
    advice: "Refuse a cashout whose token is not of the bet's player with code 3.",
    run: async (trial) => {
      const { other } = trial.context;
      if (other === undefined) throw new Skipped(OTHER_NEEDED);
      const theirs = await trial.theirMoney();
      const slip = await trial.placed();
      trial.refuses(await trial.cashedOut(slip, '1', other.token), [3, 4, 5], 'warn');
      await trial.moved('-1', "a cashout with another player's token");
      await trial.theirsUnmoved(theirs, "a cashout of somebody else's bet with their token");
    },
  },
  {
    id: 'settle-unknown-bet',
    title: 'A settle of an unknown bet pays nothing',
    rule: RULES.unknownBet,
    expected: '400 with code 5, nothing paid',
    advice: 'Refuse a settle of a bet that is not in your books with code 5.',
    run: async (trial) => {
      const recorded = await trial.won(trial.slip(), '3');
      if (recorded.answer.kind === 'accepted') trial.warn('an unknown bet was settled');
      else trial.refuses(recorded, [5], 'warn');
      await trial.movedNothing('a settle of an unknown bet');
    },
  },
  {
    id: 'settle-other-user',
    title: "A settle that names another player does not pay the bet's",
    rule: RULES.owner,
    expected: '400 with code 5, nothing paid to anybody (stronger with --other-user)',
    meaning: 'absorbed',
    advice: OWN_BET,
    run: async (trial) => {
      const { other } = trial.context;
      const theirs = await trial.theirMoney();
      const slip = await trial.placed();
      const recorded = await trial.won({ ...slip, userId: trial.stranger() }, '3');
      await trial.theirsUnmoved(theirs, "a settle of somebody else's bet that names them");
      if (recorded.answer.kind === 'accepted') {
        if (other === undefined) return trial.warn('another userId was accepted');
        return trial.fail('a settle that names another player was accepted');
      }
      trial.refuses(recorded, [5], 'warn');
      await trial.moved('-1', 'a settle of another player');
    },
  },
  settleEnded,
  {
    id: 'settle-concurrent-bets',
    title: 'Results of different bets at the same time are all paid',
    rule: RULES.concurrent,
    expected: `200 to each of ${CONCURRENT}, the balance rises by all of them`,
    advice:
      'Change the balance in one statement or under a lock of the player: read, add and write in ' +
      'steps loses payouts that come at the same time.',
    run: async (trial) => {
      const slips = await Promise.all(Array.from({ length: CONCURRENT }, () => trial.placed()));
      const answers = await Promise.all(slips.map((slip) => trial.won(slip, '3')));
      for (const recorded of answers) trial.accepts(recorded);
      await trial.moved(String(2 * CONCURRENT), `${CONCURRENT} bets of 1 won with 3 each`);
    },
  },
]);

/** @param player default: the run's own @throws Skipped if the player may be real (`--i-know` without `isTest`) */
export async function forTestPlayers(
  trial: Trial,
  player: { readonly userId: string; readonly token: string } = trial.player,
): Promise<void> {
  const { answer } = await trial.profile(player.token);
  const profile = answer.kind === 'accepted' ? answer.document : undefined;
  if (profile?.value.isTest === true && userIdIn(profile) === player.userId) return;
  throw new Skipped(
    `for test players alone: the profile of ${player.userId} must say isTest: true`,
  );
}

/**
 * Some wallets require the token on every call: repeats a refused call with it, and notes the dialect item.
 * @param what for people, with its article @param again the same call with the player's token
 */
export async function tryWithToken(
  trial: Trial,
  what: 'a settle' | 'an unsettle',
  again: () => Promise<RecordedCall>,
): Promise<void> {
  const recorded = await again();
  if (recorded.answer.kind !== 'accepted') return;
  trial.fail('the same with a token was accepted; from here on a token is sent');
  const why = `${what} without a token was refused, with one it was accepted`;
  trial.tried({ dialect: { alwaysSendToken: true }, why });
}
