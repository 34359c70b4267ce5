import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS } },
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } }, beta: {} },
  });
});
// A failed test must leave nothing behind for the next one.
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

describe('a balance', () => {
  it('is the wallet’s answer with the aggregator’s userId, the amount’s text untouched (I9)', async () => {
    const player = await gateway.player({ balance: '9007199254740993.10' });
    const answer = await gateway.service.balance(player);
    expect(answer.status).toBe(200);
    expect(answer.body).toBe(
      `{"userId":"${player.userId}","currency":"USD","amount":9007199254740993.10}`,
    );
  });

  it.each([3, 4, 5, 999])(
    'that the wallet refuses by code %i is refused by that code',
    async (code) => {
      const player = await gateway.player();
      gateway
        .wallet('alpha')
        .misbehave('balance', { kind: 'code', code, message: 'No' }, { calls: 1 });
      const answer = await gateway.service.balance(player);
      expect([answer.status, answer.json]).toEqual([400, { code, message: 'No' }]);
    },
  );

  it('never tells the service the operator’s token, though the wallet quotes it (I8)', async () => {
    const player = await gateway.player();
    const message = `unknown ${player.operatorToken}, signed eyJhbGciOiJIUzI1NiJ9..${'A'.repeat(43)}`;
    const refusal = { kind: 'code', code: 3, message } as const;
    for (const operation of ['balance', 'profile'] as const) {
      gateway.wallet('alpha').misbehave(operation, refusal, { calls: 1 });
      const answer =
        operation === 'balance'
          ? await gateway.service.balance(player)
          : await gateway.service.profile(player.token);
      expect(answer.json).toEqual({ code: 3, message: 'unknown ***, signed ***' });
    }
  });

  const broken: readonly Misbehaviour[] = [
    { kind: 'status', status: 500 },
    { kind: 'status', status: 404 },
    { kind: 'status', status: 200, body: '{"userId":"x","currency":"USD"}' },
    { kind: 'status', status: 200, body: '{"userId":"x","currency":"USD","amount":"12"}' },
    { kind: 'status', status: 200, body: '{"amount":1,"amount":2}' },
    { kind: 'codeMissing' },
    { kind: 'html' },
    { kind: 'empty' },
    { kind: 'redirect' },
    { kind: 'reset' },
    { kind: 'hang' },
  ];
  it.each(broken)('that the wallet does not answer is 503: %o (I1)', async (how) => {
    const player = await gateway.player();
    gateway.wallet('alpha').misbehave('balance', how, { calls: 1 });
    const answer = await gateway.service.balance(player);
    expect([answer.status, answer.json?.code]).toEqual([503, 100]);
  });
});

describe('a balance with a token that may not be used', () => {
  async function expectRefused(asked: Parameters<typeof gateway.service.balance>[0], code: number) {
    const before = gateway.wallet('alpha').requests.length;
    const answer = await gateway.service.balance(asked);
    expect([answer.status, answer.json?.code]).toEqual([400, code]);
    expect(gateway.wallet('alpha').requests).toHaveLength(before);
  }

  it('that was revoked at another replica is refused with code 3', async () => {
    const replica = await gateway.replica();
    const player = await gateway.player();
    expect((await gateway.service.balance(player)).status).toBe(200);
    expect((await replica.service.balance(player)).status).toBe(200);
    await replica.operator('alpha').revokeSessions({ operatorUser: player.user });
    await expectRefused(player, 3);
  });
});
