import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RawFields } from '../../src/protocol/callback-bodies.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { untilDeliveries } from './support/deliveries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: {
      delivery: {
        minBackoffMs: 50,
        maxBackoffMs: 100,
        confirmUnknownAfterMs: 100,
        originateRollbackAfterMs: 500,
      },
    },
    operators: {
      alpha: {
        wallet: { breaker: { minRequests: 100_000 } },
        delivery: { originateRollbackAfterMs: 600_000 },
      },
      beta: { wallet: { breaker: { minRequests: 100_000 } } },
    },
  });
});
afterAll(() => gateway.close());

const STAKE = '5.00';
const STRANGE: RawFields = { amount: '500', currency: '"EUR"' };

/** Amount and currency of every rollback or update that the wallet was sent, as raw text. */
function termsSent(bet: TestBet, type: 3 | 5): readonly (readonly (string | undefined)[])[] {
  const bodies = bet.wallet.requests
    .map(({ body }) => String(body))
    .filter((body) => body.includes(bet.transactionId) && body.includes(`"type":${type}`));
  return bodies.map((body) =>
    ['amount', 'currency'].map((name) => new RegExp(`"${name}":([^,}]*)`).exec(body)?.[1]),
  );
}

async function unknownBet(operatorId: string): Promise<TestBet> {
  const bet = await unplacedBet(gateway, { operatorId, amount: STAKE });
  bet.wallet.misbehave('place', { kind: 'reset' }, { transactionId: bet.transactionId });
  expect((await bet.place()).json?.code).toBe(100);
  return bet;
}

describe('the stake and the currency of the journal go with', () => {
  it.each(['rollback', 'update'] as const)('each attempt of a promised %s', async (operation) => {
    const bet = await placedBet(gateway, { amount: STAKE });
    const about = { transactionId: bet.transactionId, calls: 2 };
    bet.wallet.misbehave(operation, { kind: 'status', status: 500 }, about);
    const odd = { ...STRANGE, ...(operation === 'update' ? { amount: 'null' } : {}) };
    const answer = await (operation === 'rollback' ? bet.rollback(odd) : bet.update('1.5', odd));
    expect(answer.status).toBe(200);
    await untilDeliveries(bet, [{ operation, state: 'delivered' }]);
    const sent = termsSent(bet, operation === 'rollback' ? 3 : 5);
    expect(sent).toEqual(Array.from({ length: 3 }, () => [STAKE, '"USD"']));
  });

  it('each confirmation of a rollback', async () => {
    const bet = await unknownBet('alpha');
    expect((await bet.rollback(STRANGE)).status).toBe(200);
    await bet.wallet.waitFor(() => termsSent(bet, 3).length === 3);
    expect(new Set(termsSent(bet, 3).flat())).toEqual(new Set([STAKE, '"USD"']));
  });

  it('a rollback that the gateway originates', async () => {
    const bet = await unknownBet('beta');
    await bet.wallet.waitFor(() => termsSent(bet, 3).length > 0);
    expect(termsSent(bet, 3)[0]).toEqual([STAKE, '"USD"']);
  });
});

describe('a promised rollback with odd members', () => {
  it('is delivered without them', async () => {
    const bet = await placedBet(gateway, { amount: STAKE });
    const about = { transactionId: bet.transactionId, calls: 1 };
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, about);
    const odd = { coefficient: '"x"', amount: 'null', token: '[]', requestId: '5', userId: '{}' };
    expect((await bet.rollback(odd)).status).toBe(200);
    await untilDeliveries(bet, [{ operation: 'rollback', state: 'delivered' }]);
    const sent: unknown = JSON.parse(String(bet.lastRequest().body));
    expect(sent).toMatchObject({ amount: 5, token: bet.player.operatorToken });
    expect(sent).toMatchObject({ requestId: expect.any(String), userId: bet.player.user });
    expect(sent).not.toHaveProperty('coefficient');
    expect(bet.balance()).toBe('1000');
  });
});
