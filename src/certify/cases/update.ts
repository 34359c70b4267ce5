import { describeExchange } from '../answer-meaning.ts';
import { type Case, group } from '../case.ts';
import type { Sighting } from '../recorded-call.ts';
import { Skipped, type Trial } from '../trial.ts';

const RULE = 'docs/protocol.md, Bet data update';

function needsUpdates(trial: Trial): void {
  if (!trial.context.caller.line.adapter.callerDialect.skipUpdates) return;
  throw new Skipped('the dialect says updates: skip, so the gateway sends none');
}

function acceptsUpdate(trial: Trial, sighting: Sighting): void {
  if (trial.accepts(sighting)) return;
  const why = `an update was answered ${describeExchange(sighting.exchange)}`;
  trial.found({ dialect: { updates: 'skip' }, why });
}

/** @param before what happens to the bet before its update; @returns what that has moved */
function updateCase(
  before: (trial: Trial) => Promise<{ slip: ReturnType<Trial['slip']>; net: string }>,
) {
  return async (trial: Trial): Promise<void> => {
    needsUpdates(trial);
    const { slip, net } = await before(trial);
    acceptsUpdate(trial, await trial.update(slip, '1.7'));
    await trial.moved(net, 'an update');
  };
}

export const updateCases: readonly Case[] = group('update', { rule: RULE, money: true }, [
  {
    id: 'update-once',
    title: 'An update is accepted and moves nothing',
    expected: '200, the balance stays',
    run: updateCase(async (trial) => ({ slip: await trial.placed(), net: '-1' })),
  },
  {
    id: 'update-twice',
    title: 'The same update again is accepted and moves nothing',
    rule: 'docs/protocol.md, Bet data update (200 when already updated by an earlier request)',
    expected: '200 each time, the balance stays',
    run: updateCase(async (trial) => {
      const slip = await trial.placed();
      acceptsUpdate(trial, await trial.update(slip, '1.7'));
      return { slip, net: '-1' };
    }),
  },
  {
    id: 'update-unknown',
    title: 'An update of an unknown bet is accepted',
    rule: 'docs/protocol.md, Bet data update (200 when no such bet exists)',
    expected: '200, nothing debited',
    run: updateCase(async (trial) => ({ slip: trial.slip(), net: '0' })),
  },
  {
    id: 'update-after-settle',
    title: 'An update may come after a settle',
    rule: 'docs/protocol.md, Bet lifecycle (may arrive after a settle)',
    expected: '200, the payout stands',
    run: updateCase(async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      return { slip, net: '2' };
    }),
  },
  {
    id: 'update-before-settle',
    title: 'A settle after an update pays its own amount',
    rule: 'docs/protocol.md, Bet lifecycle (update: state unchanged)',
    expected: '200, the balance rises by the amount of the settle',
    run: async (trial) => {
      needsUpdates(trial);
      const slip = await trial.placed();
      acceptsUpdate(trial, await trial.update(slip, '2.5'));
      trial.accepts(await trial.won(slip, '3'));
      await trial.moved('2', 'a settle after an update');
    },
  },
  {
    id: 'update-after-rollback',
    title: 'An update after a rollback moves nothing',
    rule: 'docs/protocol.md, Bet data update (never debit funds)',
    expected: 'the balance stays',
    run: async (trial) => {
      needsUpdates(trial);
      const slip = await trial.placed();
      trial.confirms(await trial.rollback(slip));
      await trial.update(slip, '1.7');
      await trial.movedNothing('an update after a rollback');
    },
  },
]);
