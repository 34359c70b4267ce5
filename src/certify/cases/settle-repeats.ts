import { randomUUID } from 'node:crypto';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import type { Odd } from '../calls/caller.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { type Case, type CaseText, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';
import { Skipped } from '../trial/trial-context.ts';

const COPIES = 5;

const SETTLED_UNKNOWN = 'the wallet settles a bet that it does not have';

const ONCE =
  'Keep the result with the bet, and compare: a settle with the amount and resultType that stand ' +
  'is answered 200 and pays nothing, whatever its requestId.';

type Send = (trial: Trial, slip: BetSlip, odd?: Odd) => Promise<RecordedCall>;

const won: Send = (trial, slip, odd) => trial.won(slip, '3', odd);

interface Repeat {
  readonly advice?: string;
  /** What the bet has gone through before the result that is repeated. */
  readonly before?: (trial: Trial, slip: BetSlip) => Promise<unknown>;
  /** How the repeat differs from a new request; default: as the gateway repeats. */
  readonly oddOf?: (trial: Trial, first: RecordedCall) => Odd | Promise<Odd>;
}

/** Gives a bet a result, and then the same again. Counted from after the first: other cases judge that. */
function repeat(id: string, title: string, settle: Send, options: Repeat = {}): CaseText {
  const { advice = ONCE, before, oddOf = (trial, first) => trial.repeatOf(first) } = options;
  return {
    id,
    title,
    expected: '200, the balance stays',
    advice,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      await before?.(trial, slip);
      const first = await settle(trial, slip);
      // If the wallet does not change results, the cases about that say so.
      if (before !== undefined && first.answer.kind !== 'accepted') return;
      trial.accepts(first);
      await trial.open();
      trial.accepts(await settle(trial, slip, await oddOf(trial, first)));
      await trial.movedNothing('the same result again');
    },
  };
}

const ANY_RESULT = `${ONCE} That holds for every result of a bet, not for its first one alone.`;

const usual = {
  rule: RULES.repeatedSettle,
  money: true,
  meaning: 'costs_money_when_an_answer_is_lost',
} as const;

export const settleRepeatCases: readonly Case[] = group('settle', usual, [
  repeat('settle-repeat', 'The same settle again pays once', won),
  repeat(
    'settle-repeat-same-request',
    'The same settle again under the same requestId pays once',
    won,
    { oddOf: (_trial, { call: { call } }) => ({ body: call.body, requestId: call.requestId }) },
  ),
  repeat('settle-late-repeat', 'The same settle again, some time later, pays once', won, {
    advice: `${ONCE} Keep it as long as the bet, and not in a cache that forgets.`,
    oddOf: async (trial, first) => {
      await trial.later();
      return trial.repeatOf(first);
    },
  }),
  repeat('settle-cashout-repeat', 'The same cashout again pays once', (trial, slip, odd) =>
    trial.cashedOut(slip, '2', undefined, odd),
  ),
  repeat('settle-refund-repeat', 'The same refund again pays once', (trial, slip, odd) =>
    trial.refunded(slip, odd),
  ),
  repeat('settle-lost-repeat', 'The same lost settle again is accepted', (trial, slip, odd) =>
    trial.lost(slip, odd),
  ),
  repeat('settle-corrected-repeat', 'The same corrected result again pays once', won, {
    advice: ANY_RESULT,
    before: (trial, slip) => trial.won(slip, '5'),
  }),
  repeat('settle-second-repeat', 'The same settle after an unsettle, again, pays once', won, {
    advice: ANY_RESULT,
    before: async (trial, slip) => {
      trial.accepts(await trial.won(slip, '3'));
      trial.accepts(await trial.unsettle(slip, '3'));
    },
  }),
  {
    id: 'settle-refused-before',
    title: 'A request that was refused once is looked at anew',
    expected: 'a settle that came before its place is paid when the same request comes again',
    advice:
      'Keep no answer by requestId, or only those of what you have done: a call that failed is sent again with the same ' +
      'bytes, and an answer from before (a deadlock, a restart) would be its answer for ever. Look at the state of the bet.',
    run: async (trial) => {
      const slip = trial.slip();
      const early = await trial.won(slip, '3');
      const { body, requestId } = early.call.call;
      if (early.answer.kind === 'accepted') throw new Skipped(SETTLED_UNKNOWN);
      const { answer } = await trial.place(slip);
      if (answer.kind !== 'accepted') throw new Skipped(`${SETTLED_UNKNOWN}, or remembers it`);
      trial.accepts(await trial.won(slip, '3', { body, requestId }));
      await trial.moved('2', 'a settle that was refused before its place, and then sent again');
    },
  },
  {
    id: 'settle-repeat-concurrent',
    title: `${COPIES} copies of one settle at the same time pay once`,
    expected: 'the balance rises once',
    advice: `${ONCE} Lock the bet's row while you do.`,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed();
      const requestId = randomUUID();
      const copies = Array.from({ length: COPIES }, () => trial.won(slip, '3', { requestId }));
      const answers = await Promise.all(copies);
      if (answers.every(({ answer }) => answer.kind !== 'accepted')) {
        trial.fail('none of the copies was accepted');
      }
      await trial.moved('2', `${COPIES} copies of one settle`);
    },
  },
  {
    id: 'settle-corrected-concurrent',
    title: `${COPIES} copies of one corrected result at the same time change it once`,
    expected: 'the payout that stands is the corrected one; or the first, where all are refused',
    advice: `${ONCE} Lock the bet's row while you take the first payout back and make the second.`,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      const requestId = randomUUID();
      const copies = Array.from({ length: COPIES }, () => trial.won(slip, '5', { requestId }));
      const answers = await Promise.all(copies);
      const isChanged = answers.some(({ answer }) => answer.kind === 'accepted');
      await trial.moved(isChanged ? '4' : '2', `${COPIES} copies of one corrected settle`);
    },
  },
]);
