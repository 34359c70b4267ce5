import { describeExchange } from '../calls/answer-meaning.ts';
import { type Case, group } from '../case.ts';
import { RULES } from '../rules.ts';
import type { Trial } from '../trial/trial.ts';

/** How many copies of one place are sent at once. */
const COPIES = 8;

const UNIQUE =
  'Write the bet under its transactionId, with a unique index, in the transaction that debits; ' +
  'answer a second copy like the first.';

async function again(trial: Trial, requestId: 'same' | 'new'): Promise<void> {
  const slip = trial.slip();
  const first = await trial.place(slip);
  if (!trial.accepts(first)) return;
  const call = first.call.call;
  const odd = requestId === 'same' ? { body: call.body, requestId: call.requestId } : {};
  await trial.place(slip, odd);
  await trial.moved('-1', 'the same place bet twice');
}

// The gateway sends a place once and answers copies of it from its own journal.
const usual = { rule: RULES.duplicate, money: true, meaning: 'absorbed' } as const;

export const placeDuplicateCases: readonly Case[] = group('place', usual, [
  {
    id: 'place-duplicate',
    title: 'The same place again, byte for byte, debits once',
    expected: 'the balance falls once',
    advice: UNIQUE,
    run: (trial) => again(trial, 'same'),
  },
  {
    id: 'place-duplicate-new-request',
    title: 'The same place under a new requestId debits once',
    expected: 'the balance falls once',
    advice: UNIQUE,
    run: (trial) => again(trial, 'new'),
  },
  {
    id: 'place-close-ids',
    title: 'Bets whose transactionIds differ in a character are different bets',
    expected: '200 to each of three, the balance falls by all of them',
    meaning: 'costs_money',
    advice:
      'Keep all 36 characters of the transactionId, and compare all of them: a shorter column, or ' +
      'a number made of a part, takes one bet for another.',
    run: async (trial) => {
      const { transactionId } = await trial.placed();
      for (const at of [0, transactionId.length - 1]) {
        await trial.placed({ transactionId: withOtherDigit(transactionId, at) });
      }
      await trial.moved('-3', 'three bets of 1');
    },
  },
  {
    id: 'place-duplicate-answer',
    title: 'The same place again is answered well',
    expected: '200 again, or 400 with code 8: any other code says that the bet does not stand',
    advice: 'Answer a place that was booked before with 200, or with 400 and code 8.',
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.place(slip);
      recorded.wanted = { kind: 'duplicate' };
      const { answer, reading, exchange } = recorded;
      if (answer.kind === 'accepted') return;
      if (reading.kind === 'open' && reading.code !== 100) return;
      if (reading.kind === 'open')
        return trial.warn('code 100 makes the service roll the bet back');
      if (answer.kind === 'refused' && answer.code === undefined) return;
      trial.fail(`a bet that stands was answered ${describeExchange(exchange)}`);
    },
  },
  {
    id: 'place-duplicate-concurrent',
    title: `${COPIES} copies of one place at the same time debit once`,
    expected: 'at least one 200, the balance falls once',
    advice: UNIQUE,
    run: async (trial) => {
      const slip = trial.slip();
      const copies = Array.from({ length: COPIES }, () => trial.place(slip));
      const answers = await Promise.all(copies);
      if (answers.every(({ answer }) => answer.kind !== 'accepted')) {
        trial.fail('none of the copies was accepted');
      }
      await trial.moved('-1', `${COPIES} copies of one place`);
    },
  },
  {
    id: 'place-same-id-other-amount',
    title: 'A known transactionId with another amount is refused',
    rule: RULES.oneBet,
    expected: '400 with code 5 or 8, the first place stands alone',
    advice: 'Refuse a known transactionId whose amount, currency or player differs with code 5.',
    run: async (trial) => {
      const slip = await trial.placed();
      const recorded = await trial.place({ ...slip, amount: '2' });
      trial.refuses(recorded, [5, 8], 'warn');
      await trial.moved('-1', 'one transactionId with two amounts');
    },
  },
  {
    id: 'place-two-players',
    title: 'A known transactionId of another player is refused',
    rule: RULES.oneBet,
    expected: '400 with code 5 or 8, the first place stands alone',
    advice: 'Refuse a known transactionId whose amount, currency or player differs with code 5.',
    run: async (trial) => {
      const slip = await trial.placed();
      const { other } = trial.context;
      const before = await trial.theirMoney();
      const theirs = other ?? { userId: trial.stranger(), token: trial.player.token };
      trial.refuses(await trial.place({ ...slip, ...theirs }), [5, 8, 3], 'warn');
      await trial.moved('-1', 'one transactionId of two players');
      await trial.theirsUnmoved(before, 'one transactionId of two players');
      if (other === undefined) trial.remark('the other player was made up: see --other-user');
    },
  },
]);

/** Another UUID: each of its digits is hexadecimal. */
function withOtherDigit(uuid: string, at: number): string {
  const other = uuid[at] === '0' ? '1' : '0';
  return uuid.slice(0, at) + other + uuid.slice(at + 1);
}
