import { expect } from 'vitest';
import { untilDeliveries } from '../../../deliveries/support/deliveries.ts';
import { good } from '../../support/own-wallet.ts';
import { code, goodOr, type RealWallet, refusing } from './real-wallet.ts';

/** What wallets do with calls that come twice, late or for nothing. */
export const REPEATING_WALLETS: readonly RealWallet[] = [
  {
    does: 'refuses a duplicate place by 400 code 5',
    answer: (call, before) =>
      goodOr(!(call.operation === 'place' && before.length > 0), call, code(5)),
    shows: async ({ placed, calls }) => {
      const bet = await placed();
      // It never sees one: the journal answers, even for many at once.
      const copies = await Promise.all([bet.place(), bet.place(), bet.place()]);
      expect(copies.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(calls(bet)).toHaveLength(1);
    },
  },
  ...[
    { how: '400 code 5', answer: code(5), dialect: { rollbackConfirmedBy: [5] } },
    {
      how: '404 with a code in its body',
      answer: code(5, 404),
      dialect: { rollbackConfirmedBy: [5], errorStatuses: { 404: 5 } },
    },
    {
      how: '404 with the code 404',
      answer: code(404, 404),
      dialect: { rollbackConfirmedBy: [404], errorStatuses: { 404: 5 } },
    },
  ].flatMap(({ how, answer, dialect }): readonly RealWallet[] => [
    {
      does: `refuses a rollback that has nothing to roll back by ${how}`,
      dialect,
      answer: refusing('rollback', answer),
      shows: async ({ placed }) => {
        const bet = await placed();
        const rolledBack = await bet.rollback();
        // 400 code 8 ends the service's repeats just as 200 does.
        expect([rolledBack.status, rolledBack.json?.code]).toEqual([400, 8]);
        expect(await bet.deliveries()).toEqual([]);
      },
    },
    {
      does: `refuses a rollback by ${how}, and nobody has said what that means`,
      answer: refusing('rollback', answer),
      shows: async ({ placed }) => {
        const bet = await placed();
        // Never lost: it is promised, repeated, and in the end a person has to decide (I4).
        expect((await bet.rollback()).status).toBe(200);
        await untilDeliveries(bet, [{ operation: 'rollback', state: 'dead' }], 20_000);
      },
    },
  ]),
  {
    does: 'refuses a data update by 400',
    answer: refusing('update', code(5)),
    shows: async ({ placed, calls }) => {
      const bet = await placed();
      expect((await bet.update('1.7')).status).toBe(200);
      expect(calls(bet)).toHaveLength(2);
      expect((await bet.settle('10')).status).toBe(200);
    },
  },
  {
    does: 'fails at a data update with 500',
    answer: refusing('update', { status: 500 }),
    shows: async ({ placed }) => {
      const bet = await placed();
      expect((await bet.update('1.7')).status).toBe(200);
      // It blocks nothing, and does not open the breaker either.
      expect((await bet.settle('10')).status).toBe(200);
    },
  },
  {
    does: 'fails at data updates, and is to get none',
    dialect: { updates: 'skip' },
    answer: refusing('update', { status: 500 }),
    shows: async ({ placed, calls }) => {
      const bet = await placed();
      expect((await bet.update('1.7')).status).toBe(200);
      expect(calls(bet).map(({ operation }) => operation)).toEqual(['place']);
      expect(await bet.deliveries()).toEqual([]);
    },
  },
  {
    does: 'pays a repeated cashout twice',
    answer: good,
    shows: async ({ placed, calls }) => {
      const bet = await placed();
      const cashout = () => bet.settle('30', 'cashout', bet.player.token);
      const all = [
        await cashout(),
        await cashout(),
        ...(await Promise.all([cashout(), cashout()])),
      ];
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(calls(bet).map(({ operation }) => operation)).toEqual(['place', 'settle']);
    },
  },
  {
    does: 'identifies by requestId',
    dialect: { stableRequestId: true },
    // More of it in test/operations/stable-request-id.test.ts.
    answer: (call, before) =>
      call.operation === 'settle' && before.length === 1 ? 'drop' : good(call),
    shows: async ({ placed, calls }) => {
      const bet = await placed();
      expect((await bet.settle('30')).status).toBe(503);
      expect((await bet.settle('30')).status).toBe(200);
      const [, first, repeat] = calls(bet).map(({ json }) => json.requestId);
      expect(repeat).toBe(first);
    },
  },
];
