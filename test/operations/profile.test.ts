import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { balanceBody } from '../../src/protocol/callback-bodies.ts';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { placedBet, unplacedBet } from '../support/bet.ts';
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

/** Sets the wallet's next profile, word for word. */
function nextProfile(body: string): void {
  gateway.wallet('alpha').misbehave('profile', { kind: 'status', status: 200, body }, { calls: 1 });
}

describe('a profile', () => {
  it('names the aggregator’s userId, and the operator’s id in customFields.operatorUser', async () => {
    const player = await gateway.player();
    const answer = await gateway.service.profile(player.token);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      userId: player.userId,
      currency: 'USD',
      currencies: ['USD'],
      customFields: { operatorUser: player.user, firstName: 'John', percentMargin: 13.2 },
    });
  });

  it('of another player than the session’s is a broken answer: 503, nothing of it shown (I8)', async () => {
    const [player, other] = [await gateway.player(), await gateway.player()];
    nextProfile(`{"userId":"${other.user}","currency":"USD","currencies":["USD"]}`);
    const answer = await gateway.service.profile(player.token);
    expect([answer.status, answer.json?.code]).toEqual([503, 100]);
    expect(answer.body).not.toContain(other.user);
    expect((await gateway.service.profile(player.token)).status).toBe(200);
  });

  it.each([3, 4, 5, 999])(
    'that the wallet refuses by code %i is refused by that code',
    async (code) => {
      const player = await gateway.player();
      gateway
        .wallet('alpha')
        .misbehave('profile', { kind: 'code', code, message: 'No' }, { calls: 1 });
      const answer = await gateway.service.profile(player.token);
      expect([answer.status, answer.json]).toEqual([400, { code, message: 'No' }]);
    },
  );

  const broken: readonly Misbehaviour[] = [
    { kind: 'status', status: 500 },
    { kind: 'status', status: 200, body: '{"currency":"USD"}' },
    { kind: 'status', status: 200, body: '{"userId":"not a player id","currency":"USD"}' },
    { kind: 'status', status: 200, body: '{"userId":7,"currency":"USD"}' },
    { kind: 'status', status: 200, body: '{"userId":"x","userId":"y","currency":"USD"}' },
    { kind: 'codeMissing' },
    { kind: 'html' },
    { kind: 'empty' },
    { kind: 'reset' },
    { kind: 'hang' },
  ];
  it.each(broken)('that the wallet does not answer is 503: %o (I1)', async (how) => {
    const player = await gateway.player();
    gateway.wallet('alpha').misbehave('profile', how, { calls: 1 });
    const answer = await gateway.service.profile(player.token);
    expect([answer.status, answer.json?.code]).toEqual([503, 100]);
  });
});

describe('when the wallet names another currency than the session’s', () => {
  it('the session ends: code 4 now, and for every later use of its token', async () => {
    const bet = await unplacedBet(gateway);
    const { player, wallet } = bet;
    expect((await gateway.service.balance(player)).status).toBe(200);
    wallet.switchCurrency(player.user, 'EUR');
    const answer = await gateway.service.profile(player.token);
    expect([answer.status, answer.json?.code]).toEqual([400, 4]);

    wallet.switchCurrency(player.user, undefined);
    const balance = await gateway.service.call('POST', '/user/balance', balanceBody(player));
    const again = await gateway.service.profile(player.token);
    const place = await bet.place();
    for (const late of [balance, again, place]) {
      expect([late.status, late.json?.code]).toEqual([400, 4]);
    }
    expect(bet.arrivals()).toEqual([]);
  });

  it('bets placed before still settle and roll back', async () => {
    const first = await placedBet(gateway);
    const { player } = first;
    const second = await placedBet(gateway, { player });
    gateway.wallet('alpha').switchCurrency(player.user, 'EUR');
    expect((await gateway.service.profile(player.token)).json?.code).toBe(4);
    expect((await first.settle('10')).status).toBe(200);
    expect((await second.rollback()).status).toBe(200);
  });
});
