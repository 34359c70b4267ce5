import { sameAmount, subtractAmounts } from '../../domain/amount.ts';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { describeExchange } from '../calls/answer-meaning.ts';
import type { RecordedCall } from '../calls/recorded-call.ts';
import { type Case, type CaseText, group } from '../case.ts';
import { RULES } from '../rules.ts';
import { stakes } from '../trial/money.ts';
import type { Trial } from '../trial/trial.ts';
import { rollbackEnded } from './ended-session.ts';
import { afterSpending } from './spent-payout.ts';

const RACES = 4;
const CONCURRENT = 12;

const CLOSED =
  'Look at the state of the bet before money moves: one that was rolled back gets no result; ' +
  'refuse with code 5.';

/** The gateway never sends this, so any answer will do; money must not move. */
async function afterRollback(
  trial: Trial,
  what: string,
  send: (slip: ReturnType<Trial['slip']>) => Promise<RecordedCall>,
): Promise<void> {
  const slip = await trial.placed();
  trial.confirms(await trial.rollback(slip));
  const recorded = await send(slip);
  if (recorded.answer.kind === 'none') {
    trial.warn(`no proper answer: ${describeExchange(recorded.exchange)}`);
  }
  await trial.movedNothing(what);
}

const UNDO =
  'On a rollback of a settled bet take back what it has paid, whatever its results were, give the ' +
  'stake back and answer 200; the service counts the bet as cancelled.';

/** Rolls a settled bet back. @param by the balance's movement if stake and payout are undone */
async function undone(trial: Trial, slip: BetSlip, what: string, by: string): Promise<void> {
  const recorded = await trial.rollback(slip);
  // If money is wrong, no dialect may make this answer look like a confirmation.
  recorded.wanted = { kind: 'confirmation' };
  const answered = describeExchange(recorded.exchange);
  await trial.moved(by, `${what} rolled back (answered ${answered})`);
}

/** Settles a bet. @returns what was paid if the wallet accepts that result */
type Settle = (trial: Trial, slip: BetSlip) => Promise<string>;

async function paid(amount: string, settled: Promise<RecordedCall>): Promise<string> {
  return (await settled).answer.kind === 'accepted' ? amount : '0';
}

const RESULTS: Readonly<Record<string, Settle>> = {
  lost: (trial, slip) => paid('0', trial.lost(slip)),
  refunded: (trial, slip) => paid(slip.amount, trial.refunded(slip)),
  'cashed-out': (trial, slip) => paid('1', trial.cashedOut(slip, '1')),
  corrected: async (trial, slip) => {
    const first = await paid('3', trial.won(slip, '3'));
    const second = await paid('5', trial.won(slip, '5'));
    return second === '0' ? first : second;
  },
};

const PATHS: readonly CaseText[] = Object.entries(RESULTS).map(([name, settle]) => ({
  id: `rollback-${name}`,
  title: `A rollback undoes a ${name} bet`,
  rule: RULES.rollbackSettled,
  meaning: 'costs_money',
  expected: 'whatever the answer, stake and payout are undone',
  advice: UNDO,
  run: async (trial) => {
    const slip = await trial.placed({ amount: '2' });
    const payout = await settle(trial, slip);
    // The cases about results judge what these have moved.
    await trial.open();
    await undone(trial, slip, `a ${name} bet`, subtractAmounts(slip.amount, payout));
  },
}));

// A settle whose answer was lost may still be in progress in the wallet when the rollback is done.
const usual = {
  rule: RULES.rolledBack,
  money: true,
  meaning: 'costs_money_when_an_answer_is_lost',
} as const;

export const afterRollbackCases: readonly Case[] = group('rollback', usual, [
  {
    id: 'rollback-then-settle',
    title: 'A settle after the rollback pays nothing',
    expected: '400 with code 5, or 200; nothing paid',
    advice: CLOSED,
    run: (trial) =>
      afterRollback(trial, 'a settle after the rollback', (slip) => trial.won(slip, '3')),
  },
  {
    id: 'rollback-settle-race',
    title: 'A rollback at the same time as a result leaves neither payout nor debit',
    expected: `after each of ${RACES} races the rollback is confirmed, and the balance is what it was`,
    advice: `${CLOSED} Lock the bet's row from that look until all is written.`,
    run: async (trial) => {
      // One after the other: other cases find what is lost when different bets run at once.
      for (let race = 0; race < RACES; race += 1) {
        const slip = await trial.placed();
        await Promise.all([trial.won(slip, '3'), trial.rollback(slip)]);
        trial.confirms(await trial.rollback(slip));
      }
      await trial.movedNothing('results raced by the rollbacks of their bets');
    },
  },
  {
    id: 'rollback-then-unsettle',
    title: 'An unsettle after the rollback takes nothing',
    expected: '400 with code 5, or 200; nothing taken',
    advice: CLOSED,
    run: (trial) =>
      afterRollback(trial, 'an unsettle after the rollback', (slip) => trial.unsettle(slip, '3')),
  },
  {
    id: 'rollback-after-settle',
    title: 'A rollback of a settled bet undoes stake and payout',
    rule: RULES.rollbackSettled,
    meaning: 'costs_money',
    expected: 'whatever the answer, the balance is what it was before the bet',
    advice: UNDO,
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.won(slip, '3'));
      await undone(trial, slip, 'a settled bet', '0');
    },
  },
  ...PATHS,
  {
    id: 'rollback-spent-payout',
    title: 'A rollback takes a payout back that was spent',
    rule: RULES.rollbackSettled,
    meaning: 'costs_money',
    expected: '200, stake and payout undone, although the balance falls below 0',
    advice:
      'Let a rollback take the balance below 0: the service counts the bet as cancelled, and the ' +
      'player owes what was paid.',
    run: async (trial) => {
      const { answer, exchange } = await afterSpending(trial, (slip) => trial.rollback(slip));
      const isUndone = answer.kind === 'accepted';
      const kept = subtractAmounts(await trial.money(), trial.books?.before ?? '0');
      if (isUndone && sameAmount(kept, '0')) return;
      // Rare, and the service's documents do not mention it: no reason to refuse the wallet.
      const what = `a settled bet rolled back after its payout was spent (${describeExchange(exchange)})`;
      trial.warn(`${what}: the player keeps ${kept}`, 'costs_money');
    },
  },
  {
    id: 'rollback-result-twice',
    title: 'The same rollback of a bet that had a result moves nothing',
    rule: RULES.repeatedRollback,
    expected: 'a settled bet, and one that was unsettled, are rolled back once',
    advice:
      'Mark the bet as rolled back, whatever it was before, in the transaction that undoes it; answer 200 to every ' +
      'further rollback, and move nothing.',
    run: async (trial) => {
      const rolledBack = (['settled', 'unsettled'] as const).map(async (what) => {
        const slip = await trial.placed({ amount: '2' });
        await trial.won(slip, '3');
        if (what === 'unsettled') await trial.unsettle(slip, '3');
        return { slip, first: await trial.rollback(slip) };
      });
      const bets = await Promise.all(rolledBack);
      // The cases about the first rollback judge what that has moved.
      await trial.open();
      const again = bets.map(({ slip, first }) => trial.rollback(slip, 50, trial.repeatOf(first)));
      await Promise.all(again);
      await trial.movedNothing('the same rollbacks of a settled and of an unsettled bet again');
    },
  },
  {
    id: 'rollback-concurrent-results',
    title: 'Rollbacks of different settled bets at the same time undo all of them',
    rule: RULES.concurrent,
    meaning: 'costs_money',
    expected: `200 to each of ${CONCURRENT}, every stake and payout undone`,
    advice: `${UNDO} Change the balance in one statement or under a lock of the player: read, add and write in steps loses what comes at the same time.`,
    run: async (trial) => {
      const slips = await Promise.all(Array.from({ length: CONCURRENT }, () => trial.placed()));
      await Promise.all(slips.map((slip) => trial.won(slip, '3')));
      // Other cases judge stakes and payouts.
      await trial.open();
      await Promise.all(slips.map((slip) => trial.rollback(slip)));
      await trial.moved(
        stakes(CONCURRENT, '2'),
        `${CONCURRENT} bets of 1 that won 3, rolled back at once`,
      );
    },
  },
  {
    id: 'rollback-late-repeat',
    title: 'A rollback is remembered some time later',
    expected:
      'a second and a half later the same rollback refunds nothing, and no place debits, also of a bet that was unknown',
    advice:
      'Keep the transactionId of every rollback, also of one that found no bet, as long as bets, ' +
      'and not in a cache that forgets: rollbacks are sent again minutes and hours later.',
    run: async (trial) => {
      const [known, unknown] = [await trial.placed({ amount: '3' }), trial.slip()];
      const first = await trial.rollback(known);
      trial.confirms(first);
      await trial.rollback(unknown);
      await trial.later();
      trial.confirms(await trial.rollback(known, 50, trial.repeatOf(first)));
      await trial.movedNothing('the same rollback again');
      for (const slip of [known, unknown]) await trial.place(slip);
      await trial.movedNothing('places after their rollbacks');
    },
  },
  {
    id: 'rollback-without-token',
    title: 'A rollback does not need a token',
    meaning: 'absorbed',
    rule: RULES.rollback,
    expected: '200 although the session and its token are gone, the stake refunded',
    advice: 'Refund by transactionId: the session may have ended long ago.',
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.rollback(slip, 50, { more: { token: undefined } });
      if (recorded.answer.kind === 'accepted') return void (await trial.movedNothing('a rollback'));
      trial.warn('refused; the gateway leaves the token out only where it does not know the bet');
    },
  },
  rollbackEnded,
  {
    id: 'rollback-other-user',
    title: "A rollback that names another player does not undo the bet's",
    rule: RULES.owner,
    expected: '400 with code 5, nothing refunded to anybody (stronger with --other-user)',
    meaning: 'absorbed',
    advice:
      "Find the bet by transactionId, compare userId with the bet's, and refuse with code 5 where they differ.",
    run: async (trial) => {
      const { other } = trial.context;
      const theirs = await trial.theirMoney();
      const slip = await trial.placed();
      const { answer } = await trial.rollback({ ...slip, userId: trial.stranger() });
      await trial.theirsUnmoved(theirs, "a rollback of somebody else's bet that names them");
      if (answer.kind !== 'accepted') return void (await trial.moved('-1', 'a foreign rollback'));
      if (other === undefined) trial.warn('another userId was accepted');
      else trial.fail('a rollback that names another player was accepted');
    },
  },
]);
