import { expect, it, onTestFinished } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { limitedRole } from '../support/limited-role.ts';

/** This test's callbacks alone use more pools than that. */
const LEFT = 4;
/** Several for each connection, and few enough for a busy machine within a callback's time. */
const TOGETHER = 20;

it('a server with few connections left makes bets and results slow, and fails none of them (I3)', async () => {
  const gateway = await startTestGateway({
    through: async ({ databaseUrl, redisUrl }) => {
      const { url } = await limitedRole(databaseUrl, LEFT);
      return { databaseUrl: url, redisUrl };
    },
  });
  onTestFinished(() => gateway.close());
  const { service } = gateway;
  const player = await gateway.player({ balance: '1000' });
  const together = async <T>(count: number, use: () => Promise<T>) =>
    await Promise.all(Array.from({ length: count }, use));

  const placed = await together(TOGETHER, () => service.place({ ...player, amount: '1' }));
  expect(new Set(placed.map(({ kind }) => kind))).toEqual(new Set(['accepted']));
  // At a moment when all connections of the other pools are taken as well.
  const [settled] = await Promise.all([
    Promise.all(
      placed.map((bet) => service.settle(bet.transactionId, { amount: '2', resultType: 'won' })),
    ),
    together(TOGETHER, () => service.balance(player)),
    together(TOGETHER, () => service.place({ ...player, amount: '1' })),
  ]);
  expect(new Set(settled.map(({ kind }) => kind))).toEqual(new Set(['confirmed']));
  // Twice as many stakes of 1, and for half of them 2.
  expect(gateway.wallet('alpha').balance(player.user, 'USD')).toBe('1000');
});
