import { afterAll, beforeAll, describe, it } from 'vitest';
import { unreachable } from '../../src/domain/unreachable.ts';
import { placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { PATIENT_MS } from '../support/timing.ts';

const PATIENT = { timeout: PATIENT_MS };

/** "The same operation again after it succeeded: the first answer again", also if a delivery succeeded. */
describe.concurrent('an operation answered by a promise', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      gateway: { delivery: { minBackoffMs: 10, maxBackoffMs: 50, confirmUnknownAfterMs: 20 } },
      operators: {
        alpha: { settle: { onFailure: 'queue' }, wallet: { breaker: { minRequests: 100_000 } } },
      },
      worker: true,
    });
  });
  afterAll(() => gateway.close());

  const failures = [
    { kind: 'status', status: 500 },
    { kind: 'reset', effect: 'applied' },
  ] as const;
  const cases = failures.flatMap((how) =>
    (['settle', 'rollback', 'update'] as const).map((operation) => [operation, how] as const),
  );

  it.for(cases)(
    '%s is answered the same once it was delivered, and never sent again: %o (I4, I5)',
    async ([operation, how], { expect }) => {
      const bet = await placedBet(gateway);
      const { transactionId } = bet;
      const send = () => {
        switch (operation) {
          case 'settle':
            return bet.settle('10');
          case 'rollback':
            return bet.rollback();
          case 'update':
            return bet.update('1.5');
          default:
            return unreachable(operation);
        }
      };
      bet.wallet.misbehave(operation, how, { transactionId, calls: 2 });
      const promised = await send();
      expect(promised.status).toBe(200);
      await expect
        .poll(() => bet.deliveries(), PATIENT)
        .toEqual([{ operation, state: 'delivered', attempts: 3 }]);
      const again = await send();
      expect([again.status, again.body]).toEqual([200, promised.body]);
      expect(bet.arrivals()).toEqual(['place', operation, operation, operation]);
    },
  );

  it('a promised rollback that the wallet confirms by code 8 is still answered 200', async ({
    expect,
  }) => {
    const bet = await placedBet(gateway);
    const { transactionId } = bet;
    const confirmed = { kind: 'code', code: 8, effect: 'applied' } as const;
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { transactionId, calls: 1 });
    bet.wallet.misbehave('rollback', confirmed, { transactionId });
    const promised = await bet.rollback();
    await expect
      .poll(() => bet.deliveries(), PATIENT)
      .toEqual([{ operation: 'rollback', state: 'delivered', attempts: 2 }]);
    expect((await bet.rollback()).body).toBe(promised.body);
  });

  it.for([undefined, 8])(
    'rollback of an unknown place is repeated, and goes on being answered by the first, code %s (I5)',
    async (code, { expect }) => {
      const bet = await unplacedBet(gateway);
      const { transactionId } = bet;
      bet.wallet.misbehave('place', { kind: 'reset', effect: 'applied' }, { transactionId });
      expect((await bet.place()).json?.code).toBe(100);
      const first = { kind: 'code', code: 8, effect: 'applied' } as const;
      if (code !== undefined) bet.wallet.misbehave('rollback', first, { transactionId, calls: 1 });
      const confirmed = await bet.rollback();
      expect(confirmed.json?.code).toBe(code);
      await expect
        .poll(() => bet.arrivals(), PATIENT)
        .toEqual(['place', 'rollback', 'rollback', 'rollback']);
      expect((await bet.rollback()).body).toBe(confirmed.body);
      expect(bet.balance()).toBe('1000');
    },
  );

  it.for(['placed', 'unknown here'])(
    'rollback of a bet %s is delivered with the operator’s token, although ours is kept as a hash',
    async (known, { expect }) => {
      const bet = await unplacedBet(gateway);
      if (known === 'placed') await bet.place();
      const { transactionId, player } = bet;
      const failure = { kind: 'status', status: 500 } as const;
      bet.wallet.misbehave('rollback', failure, { transactionId, calls: 1 });
      await gateway.operator('alpha').revokeSessions({ operatorUser: player.user });
      await bet.rollback();
      await expect
        .poll(() => bet.deliveries(), PATIENT)
        .toMatchObject([{ operation: 'rollback', state: 'delivered' }]);
      expect(JSON.parse(String(bet.lastRequest().body)).token).toBe(player.operatorToken);
    },
  );
});
