import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireSession, placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** "The token that the bet was placed with, also when that session has ended". */
describe('the token of a rollback', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({
      operators: { alpha: {}, beta: {}, gamma: { wallet: { dialect: { alwaysSendToken: true } } } },
    });
  });
  afterAll(() => gateway.close());

  const sentBody = (bet: TestBet) => JSON.parse(String(bet.lastRequest().body));
  const revoke = (bet: TestBet) =>
    gateway.operator('alpha').revokeSessions({ operatorUser: bet.player.user });

  it('is the one the bet was placed with', async () => {
    const bet = await placedBet(gateway);
    await bet.rollback();
    expect(sentBody(bet).token).toBe(bet.player.operatorToken);
  });

  it.each(['revoked', 'expired'])('is the same even when its session was %s', async (how) => {
    const bet = await placedBet(gateway);
    if (how === 'revoked') await revoke(bet);
    else await expireSession(gateway, bet.player.token);
    expect((await bet.rollback()).status).toBe(200);
    expect(sentBody(bet).token).toBe(bet.player.operatorToken);
  });

  it('is the same even when the service names another session of the player', async () => {
    const bet = await placedBet(gateway);
    const own = `later-token-${bet.player.user}`;
    const later = await gateway
      .operator('alpha')
      .openSession({ operatorUser: bet.player.user, currency: 'USD', operatorToken: own });
    await bet.rollback({ token: JSON.stringify(later.session?.token) });
    expect(sentBody(bet).token).toBe(bet.player.operatorToken);
  });

  it('is left out if the service sent none', async () => {
    const bet = await placedBet(gateway);
    await bet.rollback({ token: undefined });
    expect(sentBody(bet)).not.toHaveProperty('token');
  });

  it('stays null where the service sent null', async () => {
    const bet = await placedBet(gateway);
    expect((await bet.rollback({ token: 'null' })).status).toBe(200);
    expect(sentBody(bet).token).toBeNull();
  });

  it.each(['revoked', 'live'])('of a bet unknown here is its session’s own, %s', async (how) => {
    const bet = await unplacedBet(gateway);
    if (how === 'revoked') await revoke(bet);
    expect((await bet.rollback()).status).toBe(200);
    expect(sentBody(bet).token).toBe(bet.player.operatorToken);
  });

  it.each([
    ['a token that nobody was given', async () => 'a-token-that-nobody-has'],
    ['another player’s token', async () => (await gateway.player()).token],
    ['another operator’s token', async () => (await gateway.player({ operatorId: 'beta' })).token],
  ])('of a bet unknown here is left out where the service sent %s (I8)', async (_, tokenOf) => {
    const bet = await unplacedBet(gateway);
    const answer = await bet.rollback({ token: JSON.stringify(await tokenOf()) });
    expect(answer.status).toBe(200);
    expect(bet.arrivals()).toEqual(['rollback']);
    expect(sentBody(bet)).not.toHaveProperty('token');
    expect(sentBody(bet).userId).toBe(bet.player.user);
  });

  it('is added for a wallet that wants one with every call (alwaysSendToken)', async () => {
    const bet = await placedBet(gateway, { operatorId: 'gamma' });
    await bet.settle('10');
    expect(sentBody(bet).token).toBe(bet.player.operatorToken);
    await bet.unsettle();
    expect(sentBody(bet).token).toBe(bet.player.operatorToken);
    await bet.rollback({ token: undefined });
    expect(sentBody(bet).token).toBe(bet.player.operatorToken);
  });
});
