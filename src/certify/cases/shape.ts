import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';

/** How many bets live at once. */
const LIVES = 9;

const usual = { rule: RULES.newMembers, money: false, meaning: 'costs_money' } as const;

export const shapeCases: readonly Case[] = group('shape', usual, [
  {
    id: 'shape-journey',
    title: 'A bet goes through its whole life',
    expected:
      'place, update, settle, unsettle, settle again and rollback of another are accepted, and the ' +
      'balance has moved by what they say',
    rule: RULES.life,
    money: true,
    advice: 'Keep result and payout with the bet: each operation starts from what stands there.',
    run: async (trial) => {
      const { skipUpdates } = trial.context.caller.connection.adapter.callerDialect;
      const slip = await trial.placed();
      if (!skipUpdates) await trial.update(slip, '1.7');
      trial.accepts(await trial.won(slip, '3'));
      trial.accepts(await trial.unsettle(slip, '3'));
      trial.accepts(await trial.lost(slip));
      trial.confirms(await trial.rollback(await trial.placed()));
      const amount = `${'9'.repeat(12)}`;
      const refused = await trial.place(trial.slip({ amount }));
      refused.wanted = { kind: 'refusal', codes: [] };
      await trial.moved('-1', 'a bet lost in the end, and another rolled back');
    },
  },
  {
    id: 'shape-concurrent-lives',
    title: 'Bets live their lives at the same time',
    expected: `${LIVES} bets go through place, settle, unsettle and settle or rollback at once; the balance has moved by what they say`,
    rule: RULES.concurrent,
    money: true,
    advice:
      'Change the balance in one statement or under a lock of the player: read, add and write in ' +
      'steps loses what comes at the same time.',
    run: async (trial) => {
      await Promise.all(Array.from({ length: LIVES }, (_, at) => liveOf(trial, at)));
      await trial.moved('0', `${LIVES} bets at the same time`);
    },
  },
  {
    id: 'shape-unknown-fields',
    title: 'Members that the wallet does not know are ignored',
    expected: '200 to a place with new members, the balance falls by the amount',
    money: true,
    advice: 'Read the members that you need, and ignore the others.',
    run: async (trial) => {
      const more = { newMember: '{"any":["thing",1,null]}', anotherMember: 'true' };
      if (trial.accepts(await trial.place(trial.slip(), { more }))) {
        await trial.moved('-1', 'a place with new members');
      }
    },
  },
  {
    id: 'shape-not-json',
    title: 'A body that is not JSON is refused',
    expected: '400 with code 5',
    rule: RULES.validation,
    meaning: 'absorbed',
    advice: 'Answer 400 with code 5 to a body that is not JSON.',
    run: async (trial) => {
      const recorded = await trial.place(trial.slip(), { body: '{"transactionId":' });
      if (recorded.answer.kind === 'accepted') trial.fail('a body that is not JSON was accepted');
      else if (recorded.answer.kind === 'none') trial.warn('a body that is not JSON breaks it');
    },
  },
  {
    id: 'shape-missing-id',
    title: 'A place without a transactionId is refused',
    expected: '400 with code 5, nothing debited',
    money: true,
    rule: RULES.validation,
    meaning: 'absorbed',
    advice: 'Refuse a place without a transactionId with code 5.',
    run: async (trial) => {
      const recorded = await trial.place(trial.slip(), { more: { transactionId: undefined } });
      if (recorded.answer.kind === 'accepted') {
        trial.fail('a place without a transactionId was accepted');
      } else if (recorded.answer.kind === 'none') trial.warn('a missing transactionId breaks it');
      await trial.movedNothing('a place without a transactionId');
    },
  },
]);

/** Of each three bets one is lost, one wins 2 and one is rolled back: together they move nothing. */
async function liveOf(trial: Trial, at: number): Promise<void> {
  const slip = await trial.placed();
  trial.accepts(await trial.won(slip, '3'));
  trial.accepts(await trial.unsettle(slip, '3'));
  if (at % 3 === 0) trial.accepts(await trial.lost(slip));
  else if (at % 3 === 1) trial.accepts(await trial.won(slip, '2'));
  else trial.confirms(await trial.rollback(slip));
}
