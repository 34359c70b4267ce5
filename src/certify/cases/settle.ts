import { randomUUID } from 'node:crypto';
import type { BetSlip } from '../../protocol/callback-bodies.ts';
import { type Case, group } from '../case.ts';
import type { Trial } from '../trial.ts';
import { NOBODY } from './balance.ts';
import { unknownToken } from './profile.ts';

const RULE = 'docs/protocol.md, Settle; Bet lifecycle';
const AGAIN = 'docs/protocol.md, Bet lifecycle (settle again, same data)';
const CASHOUT = 'docs/protocol.md, Settle (token only for cashout)';

const COPIES = 5;

async function repeated(trial: Trial, send: (slip: BetSlip) => Promise<unknown>): Promise<void> {
  const slip = await trial.placed();
  await send(slip);
  await trial.moved('2', 'the same settle again');
}

export const settleCases: readonly Case[] = group('settle', { rule: RULE, money: true }, [
  {
    id: 'settle-won',
    title: 'A won bet is paid, without a token',
    expected: '200, the balance rises by the amount',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.won(slip, '3');
      if (!trial.accepts(sighting)) await tryWithToken(trial, slip);
      await trial.moved('2', 'a stake of 1 and a payout of 3');
    },
  },
  {
    id: 'settle-lost',
    title: 'A lost bet pays nothing',
    expected: '200 to amount 0, the balance stays',
    run: async (trial) => {
      const slip = await trial.placed();
      trial.accepts(await trial.lost(slip));
      await trial.moved('-1', 'a lost bet of 1');
    },
  },
  {
    id: 'settle-refund',
    title: 'A refund gives the stake back',
    expected: '200 to resultType refund, the balance rises by the amount',
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      trial.accepts(await trial.settle(slip, { amount: '2', resultType: 'refund' }));
      await trial.movedNothing('a refunded bet');
    },
  },
  {
    id: 'settle-cashout',
    title: 'A cashout with a token is paid',
    rule: CASHOUT,
    expected: '200, the balance rises by the amount',
    run: async (trial) => {
      const slip = await trial.placed({ amount: '2' });
      const { token } = trial.player;
      trial.accepts(await trial.settle(slip, { amount: '1', resultType: 'cashout', token }));
      await trial.moved('-1', 'a bet of 2 cashed out for 1');
    },
  },
  {
    id: 'settle-cashout-no-token',
    title: 'A cashout without a token is refused',
    rule: CASHOUT,
    expected: '400 with code 3 (or 4, 5), nothing paid',
    run: async (trial) => {
      const slip = await trial.placed();
      const sighting = await trial.settle(slip, { amount: '1', resultType: 'cashout' });
      trial.refuses(sighting, [3, 4, 5], 'warn');
      await trial.moved('-1', 'a cashout without a token');
    },
  },
  {
    id: 'settle-cashout-unknown-token',
    title: 'A cashout with an unknown token is refused',
    rule: CASHOUT,
    expected: '400 with code 3 (or 4), nothing paid',
    run: async (trial) => {
      const slip = await trial.placed();
      const token = unknownToken();
      const sighting = await trial.settle(slip, { amount: '1', resultType: 'cashout', token });
      trial.refuses(sighting, [3, 4], 'warn');
      await trial.moved('-1', 'a cashout with an unknown token');
    },
  },
  {
    id: 'settle-cashout-repeat',
    title: 'The same cashout again pays once',
    rule: AGAIN,
    expected: '200, the balance rises once',
    run: async (trial) => {
      const slip = await trial.placed({ amount: '3' });
      const result = { amount: '2', resultType: 'cashout', token: trial.player.token } as const;
      const first = await trial.settle(slip, result);
      trial.accepts(first);
      trial.accepts(await trial.settle(slip, result, trial.repeatOf(first)));
      await trial.moved('-1', 'the same cashout again');
    },
  },
  {
    id: 'settle-repeat',
    title: 'The same settle again pays once',
    rule: AGAIN,
    expected: '200, the balance rises once, though the requestId is new',
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
    rule: AGAIN,
    expected: '200, the balance rises once',
    run: (trial) =>
      repeated(trial, async (slip) => {
        const first = await trial.won(slip, '3');
        const { body, requestId } = first.call.call;
        trial.accepts(first);
        trial.accepts(await trial.won(slip, '3', { body, requestId }));
      }),
  },
  {
    id: 'settle-repeat-concurrent',
    title: `${COPIES} copies of one settle at the same time pay once`,
    rule: AGAIN,
    expected: 'the balance rises once',
    run: (trial) =>
      repeated(trial, async (slip) => {
        const requestId = randomUUID();
        const copies = Array.from({ length: COPIES }, () => trial.won(slip, '3', { requestId }));
        const answers = await Promise.all(copies);
        if (answers.every(({ meaning }) => meaning.kind !== 'accepted')) {
          trial.fail('none of the copies was accepted');
        }
      }),
  },
  {
    id: 'settle-lost-repeat',
    title: 'The same lost settle again is accepted',
    rule: AGAIN,
    expected: '200, the balance stays',
    run: async (trial) => {
      const slip = await trial.placed();
      const first = await trial.lost(slip);
      trial.accepts(first);
      trial.accepts(await trial.lost(slip, trial.repeatOf(first)));
      await trial.moved('-1', 'the same lost settle again');
    },
  },
  {
    id: 'settle-unknown-bet',
    title: 'A settle of an unknown bet pays nothing',
    expected: '400 with code 5, nothing paid',
    run: async (trial) => {
      const sighting = await trial.won(trial.slip(), '3');
      if (sighting.meaning.kind === 'accepted') trial.warn('an unknown bet was settled');
      else trial.refuses(sighting, [5], 'warn');
      await trial.movedNothing('a settle of an unknown bet');
    },
  },
  {
    id: 'settle-other-user',
    title: "A settle that names another player does not pay the bet's",
    expected: '400 with code 5, nothing paid',
    run: async (trial) => {
      const slip = await trial.placed();
      const userId = trial.context.other?.userId ?? NOBODY;
      const sighting = await trial.won({ ...slip, userId }, '3');
      if (sighting.meaning.kind === 'accepted') trial.warn('another userId was accepted');
      else trial.refuses(sighting, [5], 'warn');
      if (sighting.meaning.kind !== 'accepted')
        await trial.moved('-1', 'a settle of another player');
    },
  },
]);

/** Some wallets demand the token on every call (docs/protocol.md, How real wallets deviate). */
async function tryWithToken(trial: Trial, slip: BetSlip): Promise<void> {
  const { token } = trial.player;
  const sighting = await trial.settle(slip, { amount: '3', resultType: 'won', token });
  if (sighting.meaning.kind !== 'accepted') return;
  trial.fail('the same settle with a token was accepted; from here on a token is sent');
  const why = 'a settle without a token was refused, with one it was accepted';
  trial.found({ dialect: { alwaysSendToken: true }, why });
}
