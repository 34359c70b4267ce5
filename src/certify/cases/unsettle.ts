import { randomUUID } from 'node:crypto';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { jsonString } from '../../protocol/json.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { type Case, type CaseText, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';
import { unsettleEnded } from './ended-session.ts';
import { tryWithToken } from './settle.ts';
import { afterSpending, judgeSpent } from './spent-payout.ts';

const COPIES = 5;

const TAKE_BACK =
  'Take back what this bet has paid (as kept with the bet, whatever resultType made it), set its ' +
  'payout to 0 and let it wait for a result again.';

const usual = { rule: RULES.unsettle, money: true, meaning: 'costs_money' } as const;

/** A bet of 1 that won 3 and was unsettled. */
async function unsettled(trial: Trial): Promise<BetSlip> {
  const slip = await trial.placed();
  trial.accepts(await trial.won(slip, '3'));
  trial.accepts(await trial.unsettle(slip, '3'));
  return slip;
}

type Send = (trial: Trial, slip: BetSlip) => Promise<RecordedCall>;

/** A bet of 2 gets a result, which is taken back. */
function takenBack(result: string, payout: string, settle: Send): CaseText {
  return {
    id: `unsettle-${result}`,
    title: `An unsettle takes back the payout of a result ${result}`,
    expected: '200, the balance falls by what was paid',
    advice: TAKE_BACK,
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      trial.accepts(await settle(trial, slip));
      trial.accepts(await trial.unsettle(slip, payout));
      await trial.moved('-2', `a payout of ${payout} (${result}) undone`);
    },
  };
}

/** A bet of 1 that was unsettled ends otherwise. @param net what the bet has moved in the end */
function afterwards(id: string, title: string, net: string, send: Send): CaseText {
  return {
    id: `unsettle-${id}`,
    title,
    expected: '200, the new result alone counts',
    advice: `${TAKE_BACK} The next settle alone says what is paid, also if it is the same as before; a rollback gives the stake back.`,
    run: async (trial) => {
      const recorded = await send(trial, await unsettled(trial));
      if (recorded.operation === 'rollback') trial.confirms(recorded);
      else trial.accepts(recorded);
      await trial.moved(net, `${title} (${recorded.operation})`);
    },
  };
}

export const unsettleCases: readonly Case[] = group('unsettle', usual, [
  {
    id: 'unsettle-won',
    title: 'An unsettle takes the payout back, without a token',
    expected: '200, the balance falls by the payout',
    advice: `${TAKE_BACK} It comes from the service, without a token.`,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      if (!trial.accepts(await trial.unsettle(slip, '3'))) {
        const more = { token: jsonString(trial.player.token) };
        await tryWithToken(trial, 'an unsettle', () => trial.unsettle(slip, '3', { more }));
      }
      await trial.moved('-1', 'a payout of 3 undone');
    },
  },
  takenBack('lost', '0', (trial, slip) => trial.lost(slip)),
  takenBack('cashout', '1', (trial, slip) => trial.cashedOut(slip, '1')),
  takenBack('refund', '2', (trial, slip) => trial.refunded(slip)),
  {
    id: 'unsettle-after-resettle',
    title: 'An unsettle takes back the payout that stands',
    expected: '200, the balance falls by the corrected payout',
    advice: `${TAKE_BACK} After a corrected result that is the corrected payout.`,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      const { answer } = await trial.won(slip, '5');
      // If the wallet does not change results, the first one stands.
      const stands = answer.kind === 'accepted' ? '5' : '3';
      await trial.open();
      trial.accepts(await trial.unsettle(slip, stands));
      await trial.moved(`-${stands}`, 'a corrected payout undone');
    },
  },
  {
    id: 'unsettle-other-amount',
    title: 'An unsettle takes back what was paid, whatever amount it names',
    meaning: 'costs_money_when_an_answer_is_lost',
    expected: '200, the balance falls by the payout that stands; or a refusal, and nothing taken',
    advice: `${TAKE_BACK} Do not take the amount of the request: where the answer to a corrected result was lost, the service names the payout from before.`,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      const { answer } = await trial.unsettle(slip, '2');
      const net = answer.kind === 'accepted' ? '-1' : '2';
      await trial.moved(net, `an unsettle of 2 for a payout of 3 (${answer.kind})`);
    },
  },
  {
    id: 'unsettle-again',
    title: 'A second result is undone like the first',
    expected: '200 to each, the balance falls by every payout, also by one that was undone before',
    advice: `${TAKE_BACK} Know a repeat by the state of the bet: an unsettle after a new result is a new one.`,
    run: async (trial) => {
      const slip = await unsettled(trial);
      trial.accepts(await trial.won(slip, '5'));
      trial.accepts(await trial.unsettle(slip, '5'));
      if (!(await trial.moved('-1', 'settled and unsettled twice'))) return;
      // The same again: a wallet may know repeats by bet, type and amount.
      trial.accepts(await trial.won(slip, '5'));
      trial.accepts(await trial.unsettle(slip, '5'));
      await trial.moved('-1', 'settled and unsettled with the same payout again');
    },
  },
  {
    id: 'unsettle-spent-payout',
    title: 'An unsettle takes a payout back that was spent',
    expected: '200, the payout taken back, although the balance falls below 0',
    advice:
      'Let an unsettle take the balance below 0. Where your rules forbid that, refuse it with a code and move ' +
      'nothing; never answer 200 to one that you have not done in full.',
    run: async (trial) => {
      const recorded = await afterSpending(trial, (slip) => trial.unsettle(slip, '3'));
      await judgeSpent(trial, recorded, 'the unsettle of a payout of 3 that was spent');
    },
  },
  {
    id: 'unsettle-twice',
    title: 'The same unsettle again takes the payout back once',
    rule: RULES.repeatedUnsettle,
    expected: '200, the balance falls once',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: `${TAKE_BACK} A second unsettle then has nothing to take, and is answered 200.`,
    repeats: true,
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
    id: 'unsettle-concurrent',
    title: `${COPIES} copies of one unsettle at the same time take the payout back once`,
    rule: RULES.repeatedUnsettle,
    expected: 'the balance falls once',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: `${TAKE_BACK} Lock the bet's row while you do.`,
    repeats: true,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      const requestId = randomUUID();
      const copies = Array.from({ length: COPIES }, () => trial.unsettle(slip, '3', { requestId }));
      const answers = await Promise.all(copies);
      if (answers.every(({ answer }) => answer.kind !== 'accepted')) {
        trial.fail('none of the copies was accepted');
      }
      await trial.moved('-1', `${COPIES} copies of one unsettle`);
    },
  },
  {
    id: 'unsettle-other-twice',
    title: 'The same unsettle of a cashout or a refund takes it back once',
    rule: RULES.repeatedUnsettle,
    expected: '200, the balance falls once for each',
    meaning: 'costs_money_when_an_answer_is_lost',
    advice: `${TAKE_BACK} A second unsettle then has nothing to take, and is answered 200.`,
    repeats: true,
    run: async (trial) => {
      const unsettledOnce = (['cashout', 'refund'] as const).map(async (resultType) => {
        const slip = await trial.placed({ amount: '2' });
        const isCashout = resultType === 'cashout';
        trial.accepts(await (isCashout ? trial.cashedOut(slip, '2') : trial.refunded(slip)));
        const first = await trial.unsettle(slip, '2');
        trial.accepts(first);
        return { slip, first };
      });
      const bets = await Promise.all(unsettledOnce);
      await trial.open();
      const again = bets.map(({ slip, first }) => trial.unsettle(slip, '2', trial.repeatOf(first)));
      for (const recorded of await Promise.all(again)) trial.accepts(recorded);
      await trial.movedNothing('the same unsettles of a cashout and of a refund again');
    },
  },
  {
    id: 'unsettle-before-settle',
    title: 'An unsettle of a bet without a result moves nothing',
    expected: '200 or 400 with a code, the balance stays',
    advice: TAKE_BACK,
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.unsettle(slip, '3');
      if (recorded.answer.kind === 'none') {
        trial.fail(`no proper answer: ${describeExchange(recorded.exchange)}`, 'absorbed');
      }
      await trial.moved('-1', 'an unsettle before any settle');
    },
  },
  afterwards('settle-again', 'A bet that was unsettled can be settled again', '2', (trial, slip) =>
    trial.won(slip, '3'),
  ),
  afterwards('settle-lost', 'A bet that was unsettled can be lost', '-1', (trial, slip) =>
    trial.lost(slip),
  ),
  afterwards('settle-refund', 'A bet that was unsettled can be refunded', '0', (trial, slip) =>
    trial.refunded(slip),
  ),
  afterwards('rollback', 'A bet that was unsettled can be rolled back', '0', (trial, slip) =>
    trial.rollback(slip),
  ),
  unsettleEnded,
  {
    id: 'unsettle-unknown-bet',
    title: 'An unsettle of an unknown bet takes nothing',
    rule: RULES.unknownBet,
    expected: '400 with code 5, or 200; nothing taken',
    advice: 'Refuse an unsettle of a bet that is not in your books with code 5.',
    run: async (trial) => {
      const recorded = await trial.unsettle(trial.slip(), '3');
      if (recorded.answer.kind !== 'accepted') trial.refuses(recorded, [5], 'warn');
      await trial.movedNothing('an unsettle of an unknown bet');
    },
  },
]);
