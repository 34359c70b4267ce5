import { describeExchange } from '../answer-meaning.ts';
import { type Case, group } from '../case.ts';
import type { RecordedCall } from '../recorded-call.ts';
import { RULES } from '../rules.ts';
import { Skipped, type Trial } from '../trial.ts';

function needsUpdates(trial: Trial): void {
  if (!trial.context.caller.connection.adapter.callerDialect.skipUpdates) return;
  throw new Skipped('the dialect says updates: skip, so the gateway sends none');
}

function acceptsUpdate(trial: Trial, recorded: RecordedCall): void {
  recorded.wanted = { kind: 'success' };
  if (recorded.answer.kind === 'accepted') return;
  const answered = describeExchange(recorded.exchange);
  // Refused, it is put down as refused; failed, it is repeated apart from everything else.
  trial.fail(`update should be accepted: ${answered}`, 'absorbed');
  const why = `an update was answered ${answered}`;
  trial.tried({ dialect: { updates: 'skip' }, why });
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

const usual = { rule: RULES.update, money: true, meaning: 'costs_money' } as const;

const STORE =
  'Store the new coefficients, touch no money, and answer 200, also for a bet that you do not have.';

export const updateCases: readonly Case[] = group('update', usual, [
  {
    id: 'update-once',
    title: 'An update is accepted and moves nothing',
    expected: '200, the balance stays',
    advice: STORE,
    run: updateCase(async (trial) => ({ slip: await trial.placed(), net: '-1' })),
  },
  {
    id: 'update-twice',
    title: 'The same update again is accepted and moves nothing',
    expected: '200 each time, the balance stays',
    advice: STORE,
    run: updateCase(async (trial) => {
      const slip = await trial.placed();
      acceptsUpdate(trial, await trial.update(slip, '1.7'));
      return { slip, net: '-1' };
    }),
  },
  {
    id: 'update-unknown',
    title: 'An update of an unknown bet is accepted',
    expected: '200, nothing debited',
    advice: STORE,
    run: updateCase(async (trial) => ({ slip: trial.slip(), net: '0' })),
  },
  {
    id: 'update-after-settle',
    title: 'An update may come after a settle',
    expected: '200, the payout stands',
    advice: STORE,
    run: updateCase(async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      return { slip, net: '2' };
    }),
  },
  {
    id: 'update-before-settle',
    title: 'A settle after an update pays its own amount',
    expected: '200, the balance rises by the amount of the settle',
    advice: STORE,
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
    expected: 'the balance stays',
    advice: STORE,
    run: async (trial) => {
      needsUpdates(trial);
      const slip = await trial.placed();
      trial.confirms(await trial.rollback(slip));
      await trial.update(slip, '1.7');
      await trial.movedNothing('an update after a rollback');
    },
  },
]);
