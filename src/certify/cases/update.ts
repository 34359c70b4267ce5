import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { advised, type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';
import { Skipped } from '../trial/trial-context.ts';

/** @throws Skipped where the gateway sends none */
export function needsUpdates(trial: Trial): void {
  if (!trial.context.caller.connection.adapter.callerDialect.skipUpdates) return;
  throw new Skipped('the dialect says updates: skip, so the gateway sends none');
}

function acceptsUpdate(trial: Trial, recorded: RecordedCall): void {
  recorded.wanted = { kind: 'success' };
  if (recorded.answer.kind === 'accepted') return;
  const answered = describeExchange(recorded.exchange);
  // The gateway records a refused update as refused, and repeats a failed one separately.
  trial.fail(`update should be accepted: ${answered}`, 'absorbed');
  const why = `an update was answered ${answered}`;
  trial.tried({ dialect: { updates: 'skip' }, why });
}

/** @param before acts on the bet before its update and returns what that has moved */
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

const KEEP = `${STORE} Change the coefficients of the bet alone: its state, its stake and what it has paid stay.`;

/** A bet of 1 that won 3, and then got an update: other cases judge whether that is accepted. */
async function settledAndUpdated(
  trial: Trial,
): Promise<{ readonly slip: BetSlip; readonly settled: RecordedCall }> {
  needsUpdates(trial);
  const slip = await trial.placed();
  const settled = await trial.won(slip, '3');
  trial.accepts(settled);
  await trial.update(slip, '1.7');
  return { slip, settled };
}

export const updateCases: readonly Case[] = group(
  'update',
  usual,
  advised(STORE, [
    {
      id: 'update-once',
      title: 'An update is accepted and moves nothing',
      expected: '200, the balance stays',
      run: updateCase(async (trial) => ({ slip: await trial.placed(), net: '-1' })),
    },
    {
      id: 'update-twice',
      title: 'The same update again is accepted and moves nothing',
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
      expected: '200, nothing debited',
      run: updateCase(async (trial) => ({ slip: trial.slip(), net: '0' })),
    },
    {
      id: 'update-after-settle',
      title: 'An update may come after a settle',
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
      expected: '200, the balance rises by the amount of the settle',
      run: async (trial) => {
        needsUpdates(trial);
        const slip = await trial.placed();
        acceptsUpdate(trial, await trial.update(slip, '2.5'));
        trial.accepts(await trial.won({ ...slip, coefficient: '2.5' }, '3'));
        await trial.moved('2', 'a settle after an update');
      },
    },
    {
      id: 'update-then-rollback',
      title: 'An update leaves the stake with the bet',
      expected: '200 to a rollback after an update, the stake comes back, and no more',
      advice: KEEP,
      run: async (trial) => {
        needsUpdates(trial);
        const slip = await trial.placed({ amount: '3' });
        await trial.update(slip, '1.7');
        trial.confirms(await trial.rollback(slip));
        await trial.movedNothing('a bet updated and rolled back');
      },
    },
    {
      id: 'update-then-unsettle',
      title: 'An update leaves the result with the bet',
      expected: '200 to an unsettle after an update, the payout is taken back',
      advice: KEEP,
      run: async (trial) => {
        const { slip } = await settledAndUpdated(trial);
        trial.accepts(await trial.unsettle(slip, '3'));
        await trial.moved('-1', 'a bet won, updated and unsettled');
      },
    },
    {
      id: 'update-settled-rollback',
      title: 'A rollback after an update undoes the result as well',
      rule: RULES.rollbackSettled,
      expected: 'whatever the answer, stake and payout are undone',
      advice: KEEP,
      run: async (trial) => {
        const { slip } = await settledAndUpdated(trial);
        const recorded = await trial.rollback(slip);
        // If money is wrong, no dialect may make this answer look like a confirmation.
        recorded.wanted = { kind: 'confirmation' };
        const answered = describeExchange(recorded.exchange);
        await trial.movedNothing(`a bet won, updated and rolled back (answered ${answered})`);
      },
    },
    {
      id: 'update-settle-repeat',
      title: 'The same settle again, after an update, pays once',
      rule: RULES.repeatedSettle,
      expected: '200, the balance stays',
      meaning: 'costs_money_when_an_answer_is_lost',
      advice: KEEP,
      repeats: true,
      run: async (trial) => {
        const { slip, settled } = await settledAndUpdated(trial);
        await trial.open();
        trial.accepts(await trial.won(slip, '3', trial.repeatOf(settled)));
        await trial.movedNothing('the same settle again, after an update');
      },
    },
    {
      id: 'update-after-rollback',
      title: 'An update after a rollback moves nothing',
      expected: 'the balance stays',
      run: async (trial) => {
        needsUpdates(trial);
        const slip = await trial.placed();
        trial.confirms(await trial.rollback(slip));
        await trial.update(slip, '1.7');
        await trial.movedNothing('an update after a rollback');
      },
    },
  ]),
);
