import { describeExchange } from '../answer-meaning.ts';
import { type Case, group } from '../case.ts';

const RULE = 'docs/protocol.md, Unsettle; Bet lifecycle';

export const unsettleCases: readonly Case[] = group('unsettle', { rule: RULE, money: true }, [
  {
    id: 'unsettle-won',
    title: 'An unsettle takes the payout back',
    expected: '200, the balance falls by the payout',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      trial.accepts(await trial.unsettle(slip, '3'));
      await trial.moved('-1', 'a payout of 3 undone');
    },
  },
  {
    id: 'unsettle-lost',
    title: 'An unsettle of a lost bet moves nothing',
    expected: '200, the balance stays',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.lost(slip));
      trial.accepts(await trial.unsettle(slip, '0'));
      await trial.moved('-1', 'a lost bet unsettled');
    },
  },
  {
    id: 'unsettle-twice',
    title: 'The same unsettle again takes the payout back once',
    rule: 'docs/protocol.md, Unsettle (ensure any payout already made is cancelled)',
    expected: '200, the balance falls once',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      const first = await trial.unsettle(slip, '3');
      trial.accepts(first);
      trial.accepts(await trial.unsettle(slip, '3', trial.repeatOf(first)));
      await trial.moved('-1', 'the same unsettle again');
    },
  },
  {
    id: 'unsettle-before-settle',
    title: 'An unsettle of a bet without a result moves nothing',
    expected: '200 or 400 with a code, the balance stays',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.unsettle(slip, '3');
      if (sighting.meaning.kind === 'none') {
        trial.fail(`no proper answer: ${describeExchange(sighting.exchange)}`);
      }
      await trial.moved('-1', 'an unsettle before any settle');
    },
  },
  {
    id: 'unsettle-settle-again',
    title: 'A bet that was unsettled can be settled again',
    rule: 'docs/protocol.md, Bet lifecycle (the bet returns to waiting for a result)',
    expected: '200 to the same settle after the unsettle, the payout made again',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      trial.accepts(await trial.unsettle(slip, '3'));
      trial.accepts(await trial.won(slip, '3'));
      await trial.moved('2', 'settled, unsettled and settled again');
    },
  },
  {
    id: 'unsettle-rollback',
    title: 'A bet that was unsettled can be rolled back',
    rule: 'docs/protocol.md, Bet lifecycle (waiting for a result, rollback)',
    expected: '200 to each, payout and stake both undone',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      trial.accepts(await trial.unsettle(slip, '3'));
      trial.confirms(await trial.rollback(slip));
      await trial.movedNothing('settled, unsettled and rolled back');
    },
  },
  {
    id: 'unsettle-unknown-bet',
    title: 'An unsettle of an unknown bet takes nothing',
    expected: '400 with code 5, or 200; nothing taken',
    run: async (trial) => {
      const sighting = await trial.unsettle(trial.slip(), '3');
      if (sighting.meaning.kind !== 'accepted') trial.refuses(sighting, [5], 'warn');
      await trial.movedNothing('an unsettle of an unknown bet');
    },
  },
]);
