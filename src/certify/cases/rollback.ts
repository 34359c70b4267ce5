import { addAmounts } from '../../domain/amount.ts';
import { ROLLBACK_REASONS } from '../../domain/codes.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';

const COPIES = 5;
const RACES = 4;
const CONCURRENT = 12;

const REFUND =
  "Find the bet by transactionId, give its own stake back and mark it as rolled back, in one transaction under a lock of the bet's row.";
const NOTHING_TO_REFUND =
  'Answer 200 to a rollback of a bet that you do not have, and remember its transactionId.';
const TOMBSTONE =
  'Remember the transactionId of every rollback, also of one that found no bet, and refuse a ' +
  'place under it with code 8.';

const usual = { rule: RULES.rollback, money: true, meaning: 'costs_money' } as const;

export const rollbackCases: readonly Case[] = group('rollback', usual, [
  {
    id: 'rollback-once',
    title: 'A rollback refunds the stake',
    expected: '200, the balance is what it was',
    advice: REFUND,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      trial.confirms(await trial.rollback(slip));
      await trial.movedNothing('a bet rolled back');
    },
  },
  {
    id: 'rollback-twice',
    title: 'The same rollback again refunds once',
    rule: RULES.repeatedRollback,
    expected: '200 (or 400 with code 8), the balance rises once',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: `${REFUND} Answer 200 to every further rollback, also under a requestId that you have seen, and refund nothing.`,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      const first = await trial.rollback(slip);
      trial.confirms(first);
      trial.confirms(await trial.rollback(slip, 50, trial.repeatOf(first)));
      if (!(await trial.movedNothing('the same rollback again'))) return;
      // Every attempt of a delivery is the same request.
      trial.confirms(await trial.rollback(slip, 50, { requestId: first.call.call.requestId }));
      await trial.movedNothing('the same rollback under the same requestId');
    },
  },
  {
    id: 'rollback-concurrent',
    title: `${COPIES} copies of one rollback at the same time refund once`,
    rule: RULES.repeatedRollback,
    expected: 'the balance rises once',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: REFUND,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      await Promise.all(Array.from({ length: COPIES }, () => trial.rollback(slip)));
      trial.confirms(await trial.rollback(slip));
      await trial.movedNothing(`${COPIES} copies of one rollback`);
    },
  },
  {
    id: 'rollback-concurrent-bets',
    title: 'Rollbacks of different bets at the same time refund all of them',
    rule: RULES.concurrent,
    expected: `200 to each of ${CONCURRENT}, the balance is what it was`,
    advice:
      'Change the balance in one statement or under a lock of the player: read, add and write in ' +
      'steps loses refunds that come at the same time.',
    run: async (trial) => {
      const slips = await Promise.all(Array.from({ length: CONCURRENT }, () => trial.placed()));
      const answers = await Promise.all(slips.map((slip) => trial.rollback(slip)));
      for (const recorded of answers) trial.confirms(recorded);
      await trial.movedNothing(`${CONCURRENT} bets rolled back at once`);
    },
  },
  {
    id: 'rollback-larger-amount',
    title: 'A rollback refunds the stake, whatever amount it names',
    expected: 'never more than the stake comes back',
    advice: `${REFUND} Take the stake from the bet, not the amount from the request.`,
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.rollback({ ...slip, amount: '5' });
      if (recorded.answer.kind === 'accepted') {
        await trial.movedNothing('a rollback of 5 for a stake of 1');
      } else await trial.moved('-1', 'a refused rollback of 5 for a stake of 1');
    },
  },
  {
    id: 'rollback-unknown',
    title: 'A rollback of an unknown bet is confirmed',
    rule: RULES.unknownRollback,
    expected: '200 (or 400 with code 8), nothing refunded',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: NOTHING_TO_REFUND,
    run: async (trial) => {
      trial.confirms(await trial.rollback(trial.slip()));
      await trial.movedNothing('a rollback of an unknown bet');
    },
  },
  {
    id: 'rollback-unknown-twice',
    title: 'A rollback of an unknown bet is confirmed again',
    rule: RULES.unknownRollback,
    expected: '200 (or 400 with code 8) each time, nothing refunded',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: NOTHING_TO_REFUND,
    run: async (trial) => {
      const slip = trial.slip();
      const first = await trial.rollback(slip);
      trial.confirms(first);
      trial.confirms(await trial.rollback(slip, 50, trial.repeatOf(first)));
      await trial.movedNothing('two rollbacks of an unknown bet');
    },
  },
  {
    id: 'rollback-before-place',
    title: 'A place that comes after its rollback is refused',
    rule: RULES.earlyRollback,
    expected: '400 with code 8, nothing debited',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: TOMBSTONE,
    run: async (trial) => {
      const slip = trial.slip();
      await trial.rollback(slip);
      trial.refuses(await trial.place(slip), [8, 5], 'warn');
      await trial.movedNothing('a place after its rollback');
    },
  },
  {
    id: 'rollback-place-race',
    title: 'A rollback at the same time as its place leaves no debit',
    rule: RULES.earlyRollback,
    expected: `after each of ${RACES} races the rollback is confirmed and nothing is debited`,
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: TOMBSTONE,
    run: async (trial) => {
      for (let race = 0; race < RACES; race += 1) {
        const slip = trial.slip();
        await Promise.all([trial.place(slip), trial.rollback(slip)]);
        trial.confirms(await trial.rollback(slip));
      }
      await trial.movedNothing('places raced by their rollbacks');
    },
  },
  {
    id: 'rollback-place-again',
    title: 'A bet that was rolled back cannot be placed again',
    rule: RULES.rolledBack,
    expected: '400 with code 8, nothing debited',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: TOMBSTONE,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.confirms(await trial.rollback(slip));
      trial.refuses(await trial.place(slip), [8, 5], 'warn');
      await trial.movedNothing('a place after it was rolled back');
    },
  },
  {
    id: 'rollback-declined-place',
    title: 'A rollback of a declined place refunds nothing',
    rule: RULES.unknownRollback,
    expected: '200 (or 400 with code 8), nothing refunded',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: NOTHING_TO_REFUND,
    run: async (trial) => {
      const slip = trial.slip({ amount: addAmounts(await trial.open(), '1') });
      await trial.place(slip);
      trial.confirms(await trial.rollback(slip));
      await trial.movedNothing('a rollback of a declined place');
    },
  },
  {
    id: 'rollback-error-codes',
    title: 'A rollback is taken whatever its errorCode',
    expected: '200 to each documented errorCode, each stake refunded',
    advice: `${REFUND} Its errorCode only tells why.`,
    run: async (trial) => {
      const rollbacks = Object.values(ROLLBACK_REASONS).map(async (errorCode) =>
        trial.confirms(await trial.rollback(await trial.placed(), errorCode)),
      );
      await Promise.all(rollbacks);
      await trial.movedNothing('one rollback for each errorCode');
    },
  },
]);
