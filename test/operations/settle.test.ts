import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asPlayer, placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

describe('a settle that the wallet answers', () => {
  it('pays out and passes the wallet’s transactionTime on', async () => {
    const bet = await placedBet(gateway);
    const answer = await bet.settle('250.50');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      transactionId: bet.transactionId,
      transactionTime: bet.wallet.bets.get(bet.transactionId)?.times.settle,
    });
    expect(bet.balance()).toBe('1150.5');
  });

  it('is one call when it comes twice, answered the second time from the journal (I5)', async () => {
    const bet = await placedBet(gateway);
    const first = await bet.settle('10');
    const again = await bet.settle('10.00');
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
    expect(await gateway.metric('gateway_duplicates_total', { operation: 'settle' })).toBe(1);
  });

  it('is compared as a decimal, so that 2^53+1 is not 2^53 (I9)', async () => {
    const bet = await placedBet(gateway);
    await bet.settle('9007199254740992');
    await bet.settle('9007199254740993');
    expect(bet.arrivals()).toEqual(['place', 'settle', 'settle']);
    expect(bet.balance()).toBe('9007199254741893');
  });

  it.each([
    ['10, 0, 10', ['10', '0', '10']],
    ['0, 10, 0', ['0', '10', '0']],
  ])('asks for the bet’s state, not its history: %s is three calls', async (_, amounts) => {
    const bet = await placedBet(gateway);
    for (const amount of amounts) expect((await bet.settle(amount)).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'settle', 'settle']);
  });

  it('is a new operation after an unsettle: 10, unsettle, 10 is three calls', async () => {
    const bet = await placedBet(gateway);
    for (const answer of [await bet.settle('10'), await bet.unsettle(), await bet.settle('10')]) {
      expect(answer.status).toBe(200);
    }
    expect(bet.arrivals()).toEqual(['place', 'settle', 'unsettle', 'settle']);
    expect(bet.balance()).toBe('910');
  });

  it.each([20, 21, 5, 7, 8, 999])(
    'passes the refusal with code %i on, its words too',
    async (code) => {
      const bet = await placedBet(gateway);
      bet.wallet.misbehave('settle', { kind: 'code', code, message: 'No, sorry' }, { calls: 1 });
      const answer = await bet.settle('10');
      expect([answer.status, answer.json]).toEqual([400, { code, message: 'No, sorry' }]);
    },
  );
});

describe('a settle that names the wrong bet or player', () => {
  it.each(['settle', 'unsettle'] as const)(
    '%s of an unknown bet goes by userId to that player’s operator',
    async (operation) => {
      const bet = await unplacedBet(gateway, { operatorId: 'beta' });
      const answer = operation === 'settle' ? await bet.settle('10') : await bet.unsettle();
      expect([answer.status, answer.json?.code]).toEqual([400, 5]); // the wallet's own word
      expect(bet.arrivals()).toEqual([operation]);
      expect(gateway.wallet('alpha').arrivals(bet.transactionId)).toEqual([]);
    },
  );

  it.each(['settle', 'unsettle'] as const)(
    '%s of an unknown bet of an unknown player is answered code 5',
    async (operation) => {
      const bet = await unplacedBet(gateway);
      const nobody = asPlayer({ ...bet.player, userId: 'nobody-here' });
      const answer =
        operation === 'settle'
          ? await bet.settle('10', 'won', undefined, nobody)
          : await bet.unsettle(nobody);
      expect([answer.status, answer.json?.code]).toEqual([400, 5]);
      expect(bet.arrivals()).toEqual([]);
    },
  );

  it.each(['alpha', 'beta'])(
    'is refused with code 5 and not sent when the userId is another player’s, of %s (I8)',
    async (operatorId) => {
      const bet = await placedBet(gateway);
      const other = asPlayer(await gateway.player({ operatorId }));
      const conflicts = await gateway.metric('gateway_conflicts_total', { operator: 'alpha' });
      for (const answer of [
        await bet.settle('10', 'won', undefined, other),
        await bet.unsettle(other),
      ]) {
        expect([answer.status, answer.json?.code]).toEqual([400, 5]);
      }
      expect(bet.arrivals()).toEqual(['place']);
      expect(gateway.wallet('beta').arrivals(bet.transactionId)).toEqual([]);
      expect(await gateway.metric('gateway_conflicts_total', { operator: 'alpha' })).toBe(
        conflicts + 2,
      );
    },
  );
});
