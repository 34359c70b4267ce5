import { addAmounts, compareAmounts } from '../../domain/amount.ts';
import { describeExchange } from '../answer-meaning.ts';
import { type Case, group } from '../case.ts';
import type { Trial } from '../trial.ts';
import { NOBODY } from './balance.ts';
import { unknownToken } from './profile.ts';

const RULE = 'docs/protocol.md, Place bet';
const DUPLICATE = 'docs/protocol.md, Bet lifecycle; Error codes (8)';

/** How many copies of one place are sent at once. */
const COPIES = 8;

async function again(trial: Trial, requestId: 'same' | 'new'): Promise<void> {
  const slip = trial.slip();
  const first = await trial.place(slip);
  if (!trial.accepts(first)) return;
  const call = first.call.call;
  const odd = requestId === 'same' ? { body: call.body, requestId: call.requestId } : {};
  await trial.place(slip, odd);
  await trial.moved('-1', 'the same place bet twice');
}

export const placeCases: readonly Case[] = group('place', { rule: RULE, money: true }, [
  {
    id: 'place-enough',
    title: 'A place debits the stake',
    expected: '200, the balance falls by the amount',
    run: async (trial) => {
      await trial.placed({ amount: '3' });
      await trial.moved('-3', 'a place of 3');
    },
  },
  {
    id: 'place-not-enough',
    title: 'A place above the balance is declined',
    rule: 'docs/protocol.md, Errors (code 7)',
    expected: '400 with code 7, nothing debited',
    run: async (trial) => {
      const amount = addAmounts(await trial.open(), '1');
      trial.refuses(await trial.place(trial.slip({ amount })), [7]);
      await trial.movedNothing('a place above the balance');
    },
  },
  {
    id: 'place-exact-balance',
    title: 'A place may take the whole balance, and no more',
    expected: '200 to a place of the whole balance, then 400 with code 7 to one of 1',
    run: async (trial) => {
      const amount = await trial.open();
      const slip = trial.slip({ amount });
      if (!trial.accepts(await trial.place(slip))) return;
      trial.refuses(await trial.place(trial.slip()), [7]);
      await trial.moved(`-${amount}`, 'a place of the whole balance');
      await trial.giveBack(slip);
    },
  },
  {
    id: 'place-zero',
    title: 'A place of 0 is answered',
    expected: '200 or 400 with a code, nothing debited',
    run: async (trial) => {
      const sighting = await trial.place(trial.slip({ amount: '0' }));
      if (sighting.meaning.kind === 'none') {
        trial.fail(`no proper answer: ${describeExchange(sighting.exchange)}`);
      }
      await trial.movedNothing('a place of 0');
    },
  },
  {
    id: 'place-negative',
    title: 'A place of a negative amount is refused',
    expected: '400 with code 5, the balance must not grow',
    run: async (trial) => {
      trial.refuses(await trial.place(trial.slip({ amount: '-1' })), [5], 'warn');
      await trial.movedNothing('a place of -1');
    },
  },
  {
    id: 'place-token-unknown',
    title: 'A place with an unknown token is refused',
    rule: 'docs/protocol.md, Place bet (verify token); Error codes (3, 4)',
    expected: '400 with code 3 (or 4), nothing debited',
    run: async (trial) => {
      trial.refuses(await trial.place(trial.slip({ token: unknownToken() })), [3, 4]);
      await trial.movedNothing('a place with an unknown token');
    },
  },
  {
    id: 'place-token-missing',
    title: 'A place without a token is refused',
    rule: 'docs/protocol.md, Authentication 1',
    expected: '400 with code 3 or 5, nothing debited',
    run: async (trial) => {
      const sighting = await trial.place(trial.slip(), { more: { token: undefined } });
      trial.refuses(sighting, [3, 4, 5], 'warn');
      await trial.movedNothing('a place without a token');
    },
  },
  {
    id: 'place-token-other-user',
    title: 'A token places bets for its own player only',
    rule: 'docs/protocol.md, Authentication 1',
    expected: '400 with code 3 or 5, nothing debited',
    run: async (trial) => {
      const sighting = await trial.place(trial.slip({ userId: NOBODY }));
      trial.refuses(sighting, [3, 4, 5], 'warn');
      await trial.movedNothing('a place for another userId');
    },
  },
  {
    id: 'place-duplicate',
    title: 'The same place again, byte for byte, debits once',
    rule: DUPLICATE,
    expected: 'the balance falls once',
    run: (trial) => again(trial, 'same'),
  },
  {
    id: 'place-duplicate-new-request',
    title: 'The same place under a new requestId debits once',
    rule: 'docs/protocol.md, Bet transaction (transactionId is the id of the bet)',
    expected: 'the balance falls once',
    run: (trial) => again(trial, 'new'),
  },
  {
    id: 'place-duplicate-answer',
    title: 'The same place again is answered well',
    rule: DUPLICATE,
    expected: '200 again, or 400 with code 8: any other code says that the bet does not stand',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.place(slip);
      sighting.wanted = { kind: 'duplicate' };
      const { meaning, reading, exchange } = sighting;
      if (meaning.kind === 'accepted') return;
      if (reading.kind === 'open' && reading.code !== 100) return;
      if (reading.kind === 'open')
        return trial.warn('code 100 makes the service roll the bet back');
      if (meaning.kind === 'refused' && meaning.code === undefined) return;
      trial.fail(`a bet that stands was answered ${describeExchange(exchange)}`);
    },
  },
  {
    id: 'place-duplicate-concurrent',
    title: `${COPIES} copies of one place at the same time debit once`,
    rule: DUPLICATE,
    expected: 'at least one 200, the balance falls once',
    run: async (trial) => {
      const slip = trial.slip();
      const copies = Array.from({ length: COPIES }, () => trial.place(slip));
      const answers = await Promise.all(copies);
      if (answers.every(({ meaning }) => meaning.kind !== 'accepted')) {
        trial.fail('none of the copies was accepted');
      }
      await trial.moved('-1', `${COPIES} copies of one place`);
    },
  },
  {
    id: 'place-same-id-other-amount',
    title: 'A known transactionId with another amount is refused',
    rule: DUPLICATE,
    expected: '400 with code 5 or 8, the first place stands alone',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.place({ ...slip, amount: '2' });
      trial.refuses(sighting, [5, 8], 'warn');
      await trial.moved('-1', 'one transactionId with two amounts');
    },
  },
  {
    id: 'place-two-players',
    title: 'A known transactionId of another player is refused',
    rule: DUPLICATE,
    expected: '400 with code 5 or 8, the first place stands alone',
    run: async (trial) => {
      const slip = await trial.placed();
      const { other } = trial.context;
      const theirs = other ?? { userId: NOBODY, token: trial.player.token };
      trial.refuses(await trial.place({ ...slip, ...theirs }), [5, 8, 3], 'warn');
      await trial.moved('-1', 'one transactionId of two players');
      if (other === undefined) trial.remark('the other player was made up: see --other-user');
    },
  },
  {
    id: 'place-concurrent',
    title: 'Places of different bets at the same time all debit',
    expected: '200 to each of 5, the balance falls by all of them',
    run: async (trial) => {
      const calls = Array.from({ length: 5 }, () => trial.place(trial.slip()));
      for (const sighting of await Promise.all(calls)) trial.accepts(sighting);
      await trial.moved('-5', '5 places of 1');
    },
  },
  {
    id: 'place-concurrent-overdraw',
    title: 'Places at the same time cannot take more than the balance',
    expected: 'of two places of the whole balance one is accepted, the other declined with code 7',
    run: async (trial) => {
      const amount = await trial.open();
      const slips = [trial.slip({ amount }), trial.slip({ amount })];
      const answers = await Promise.all(slips.map((slip) => trial.place(slip)));
      const accepted = answers.filter(({ meaning }) => meaning.kind === 'accepted');
      if (accepted.length !== 1) trial.fail(`${accepted.length} of the two were accepted`);
      for (const sighting of answers) {
        if (sighting.meaning.kind !== 'accepted') trial.refuses(sighting, [7]);
      }
      if (compareAmounts(await trial.money(), '0') < 0) trial.fail('the balance is below 0');
      for (const slip of slips) await trial.giveBack(slip);
    },
  },
  {
    id: 'place-method',
    title: 'A settle sent by POST is refused',
    rule: 'docs/protocol.md, Place bet (check method POST and type 1)',
    expected: 'anything but 200, nothing paid',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.won(slip, '3', { method: 'POST' });
      if (sighting.meaning.kind === 'accepted') trial.warn('POST with type 2 was accepted');
      await trial.moved('-1', 'a settle by POST');
    },
  },
]);
