import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { acceptedBet } from '../money-safety/support/bets.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS } },
    // So many failures are the subject here and must not open the breaker.
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
  });
});
// A failed test must leave nothing behind for the next one.
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const OPERATIONS = ['settle', 'unsettle'] as const;
const send = (bet: TestBet, operation: (typeof OPERATIONS)[number]) =>
  operation === 'settle' ? bet.settle('10') : bet.unsettle();

describe.each(OPERATIONS)('%s that the wallet does not answer', (operation) => {
  const misbehaviours: readonly Misbehaviour[] = [
    { kind: 'code', code: 1 },
    { kind: 'code', code: 3 },
    { kind: 'code', code: 4 },
    { kind: 'code', code: 100 },
    { kind: 'codeMissing' },
    { kind: 'status', status: 500, body: '{"code":20,"message":"blocked"}' },
    { kind: 'status', status: 404 },
    { kind: 'status', status: 201 },
    { kind: 'html' },
    { kind: 'empty' },
    { kind: 'redirect' },
    { kind: 'reset' },
    { kind: 'reset', partial: true },
    { kind: 'wrongTransactionId' },
    { kind: 'hang' },
  ];

  it.each(misbehaviours)('is answered 503, so that the service repeats it: %o', async (how) => {
    const bet = await acceptedBet(gateway);
    bet.wallet.misbehave(operation, how, { transactionId: bet.transactionId });
    const answer = await send(bet, operation);
    expect([answer.status, answer.json?.code]).toEqual([503, 100]);
    expect(bet.arrivals()).toEqual(['place', operation]);
  });

  it('is sent again when it is repeated, and answered from the journal only once the wallet has confirmed', async () => {
    const bet = await acceptedBet(gateway);
    bet.wallet.misbehave(operation, { kind: 'reset', effect: 'applied' }, { calls: 1 });
    const unknown = await gateway.metric('gateway_unknown_outcomes_total', { operation });
    expect((await send(bet, operation)).status).toBe(503);
    const confirmed = await send(bet, operation);
    const again = await send(bet, operation);
    expect([confirmed.status, again.status]).toEqual([200, 200]);
    expect(again.body).toBe(confirmed.body);
    expect(bet.arrivals()).toEqual(['place', operation, operation]);
    expect(await gateway.metric('gateway_unknown_outcomes_total', { operation })).toBe(unknown + 1);
  });
});

describe('a bet whose result became unknown', () => {
  const leavesUnknown: readonly Misbehaviour[] = [
    { kind: 'reset', effect: 'applied' },
    { kind: 'code', code: 100, effect: 'applied' },
  ];

  it.each(leavesUnknown)(
    'answers nothing from the journal, not even what held before: %o',
    async (how) => {
      const bet = await acceptedBet(gateway);
      await bet.settle('10');
      bet.wallet.misbehave('settle', how, { calls: 1 });
      expect((await bet.settle('20')).status).toBe(503);
      expect((await bet.settle('10')).status).toBe(200);
      expect(bet.arrivals()).toEqual(['place', 'settle', 'settle', 'settle']);
      expect(bet.balance()).toBe('910');
    },
  );
});
