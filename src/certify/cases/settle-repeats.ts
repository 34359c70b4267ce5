import { randomUUID } from 'node:crypto';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';
import { Skipped } from '../trial/trial-context.ts';

const COPIES = 5;

const SETTLED_UNKNOWN = 'the wallet settles a bet that it does not have';

const ONCE =
  'Keep the result with the bet, and compare: a settle with the amount and resultType that stand ' +
  'is answered 200 and pays nothing, whatever its requestId.';

async function repeated(trial: Trial, send: (slip: BetSlip) => Promise<unknown>): Promise<void> {
  const slip = await trial.placed();
  await send(slip);
  await trial.moved('2', 'the same settle again');
}

/** Counted from after the first result: other cases judge whether that was right. */
async function paysNothingAgain(
  trial: Trial,
  send: () => Promise<RecordedCall>,
  what: string,
): Promise<void> {
  await trial.open();
  trial.accepts(await send());
  await trial.movedNothing(`the same ${what} again`);
}

const usual = {
  rule: RULES.repeatedSettle,
  money: true,
  meaning: 'costs_money_when_an_answer_is_lost',
} as const;

export const settleRepeatCases: readonly Case[] = group('settle', usual, [
  {
    id: 'settle-cashout-repeat',
    title: 'The same cashout again pays once',
    expected: '200, the balance rises once',
    advice: ONCE,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      const first = await trial.cashedOut(slip, '2');
      trial.accepts(first);
      trial.accepts(await trial.cashedOut(slip, '2', undefined, trial.repeatOf(first)));
      await trial.moved('-1', 'the same cashout again');
    },
  },
  {
    id: 'settle-repeat',
    title: 'The same settle again pays once',
    expected: '200, the balance rises once, though the requestId is new',
    advice: ONCE,
    repeats: true,
    run: async (trial) => {
      await repeated(trial, async (slip) => {
        const first = await trial.won(slip, '3');
        trial.accepts(first);
        trial.accepts(await trial.won(slip, '3', trial.repeatOf(first)));
      });
    },
  },
  {
    id: 'settle-repeat-same-request',
    title: 'The same settle again under the same requestId pays once',
    expected: '200, the balance rises once',
    advice: ONCE,
    repeats: true,
    run: (trial) =>
      repeated(trial, async (slip) => {
        const first = await trial.won(slip, '3');
        const { body, requestId } = first.call.call;
        trial.accepts(first);
        trial.accepts(await trial.won(slip, '3', { body, requestId }));
      }),
  },
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
    id: 'settle-late-repeat',
    title: 'The same settle again, some time later, pays once',
    expected: '200 a second and a half later, the balance rises once',
    advice: `${ONCE} Keep it as long as the bet, and not in a cache that forgets.`,
    repeats: true,
    run: async (trial) => {
      await repeated(trial, async (slip) => {
        const first = await trial.won(slip, '3');
        trial.accepts(first);
        await trial.later();
        trial.accepts(await trial.won(slip, '3', trial.repeatOf(first)));
      });
    },
  },
  {
    id: 'settle-repeat-concurrent',
    title: `${COPIES} copies of one settle at the same time pay once`,
    expected: 'the balance rises once',
    advice: `${ONCE} Lock the bet's row while you do.`,
    repeats: true,
    run: (trial) =>
      repeated(trial, async (slip) => {
        const requestId = randomUUID();
        const copies = Array.from({ length: COPIES }, () => trial.won(slip, '3', { requestId }));
        const answers = await Promise.all(copies);
        if (answers.every(({ answer }) => answer.kind !== 'accepted')) {
          trial.fail('none of the copies was accepted');
        }
      }),
  },
  {
    id: 'settle-refund-repeat',
    title: 'The same refund again pays once',
    expected: '200, the balance rises once',
    advice: ONCE,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      const first = await trial.refunded(slip);
      trial.accepts(first);
      const again = () => trial.refunded(slip, trial.repeatOf(first));
      await paysNothingAgain(trial, again, 'refund');
    },
  },
  {
    id: 'settle-corrected-repeat',
    title: 'The same corrected result again pays once',
    expected: '200 where the correction was taken; the balance stays',
    advice: `${ONCE} That holds for every result of a bet, not for its first one alone.`,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      const second = await trial.won(slip, '5');
      // If the wallet does not change results, the cases about that say so.
      if (second.answer.kind !== 'accepted') return;
      const again = () => trial.won(slip, '5', trial.repeatOf(second));
      await paysNothingAgain(trial, again, 'corrected settle');
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
  {
    id: 'settle-second-repeat',
    title: 'The same settle after an unsettle, again, pays once',
    expected: '200, the balance rises once',
    advice: `${ONCE} That holds for every result of a bet, not for its first one alone.`,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      trial.accepts(await trial.unsettle(slip, '3'));
      const second = await trial.won(slip, '3');
      trial.accepts(second);
      const again = () => trial.won(slip, '3', trial.repeatOf(second));
      await paysNothingAgain(trial, again, 'settle after an unsettle');
    },
  },
  {
    id: 'settle-lost-repeat',
    title: 'The same lost settle again is accepted',
    expected: '200, the balance stays',
    advice: ONCE,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed();
      const first = await trial.lost(slip);
      trial.accepts(first);
      trial.accepts(await trial.lost(slip, trial.repeatOf(first)));
      await trial.moved('-1', 'the same lost settle again');
    },
  },
]);
