import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

/** Acts as if the key that sealed this player's tokens were lost for good. */
async function loseKeyOf(gateway: TestGateway, bet: TestBet): Promise<void> {
  await onServer(gateway.databaseUrl, (client) =>
    client.query(
      `UPDATE sessions s SET operator_token = overlay(operator_token PLACING '\\xffffffff' FROM 2)
         FROM players p WHERE p.id = s.player_id AND p.operator_user = $1`,
      [bet.player.user],
    ),
  );
}

describe('a bet whose operator token cannot be opened any more', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      worker: true,
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
      operators: {
        alpha: { wallet: { breaker: { openMs: 200 }, dialect: { alwaysSendToken: true } } },
      },
    });
  });
  afterAll(() => gateway.close());

  it('is rolled back without it when the wallet comes back, not held for ever (I4)', async () => {
    const bet = await placedBet(gateway);
    await bet.wallet.down();
    expect((await bet.rollback()).status).toBe(200);
    await loseKeyOf(gateway, bet);
    await bet.wallet.up();
    await bet.wallet.waitFor(
      () => bet.wallet.arrivals(bet.transactionId, 'rollback').length === 1,
      10_000,
    );
    expect(JSON.parse(String(bet.lastRequest().body))).not.toHaveProperty('token');
  });

  it('keeps its session from placing another: nothing is sent, and the service may try again (I3)', async () => {
    const bet = await placedBet(gateway);
    await loseKeyOf(gateway, bet);
    const replica = await gateway.replica();
    const before = bet.wallet.requests.length;
    const again = await replica.service.place({ ...bet.player, amount: '1' });
    expect(again).toMatchObject({ kind: 'failed', result: { status: 400, json: { code: 100 } } });
    expect(bet.wallet.requests.length).toBe(before);
  });
});

describe('a prefixed session whose operator token cannot be opened any more', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ operators: { alpha: { sessions: { mode: 'prefixed' } } } });
  });
  afterAll(() => gateway.close());

  const token = 'alpha.own-token-1';
  const loseAll = () =>
    onServer(gateway.databaseUrl, (client) =>
      client.query(
        `UPDATE sessions SET operator_token = overlay(operator_token PLACING '\\xffffffff' FROM 2)`,
      ),
    );

  it('goes on when its wallet vouches for it: the token itself says what that knows it by', async () => {
    const wallet = gateway.wallet('alpha');
    wallet.addPlayer({
      ...{ user: 'ann', balances: { USD: '100' } },
      tokens: { 'own-token-1': 'USD' },
    });
    const first = await gateway.service.profile(token);
    await loseAll();
    const replica = await gateway.replica();
    const again = await replica.service.profile(token);
    expect(again.player).toEqual(first.player);
    const player = { token, userId: again.player?.userId ?? '', currency: 'USD' };
    expect(await replica.service.place({ ...player, amount: '1' })).toMatchObject({
      kind: 'accepted',
    });
    expect(wallet.balance('ann', 'USD')).toBe('99');
    await gateway.parts.resealing().walk();
    expect(await gateway.metric('gateway_tokens_behind', { state: 'unopenable' })).toBe(0);
  });
});
