import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import type { ServicePlayer } from '../../tools/simulator/service.ts';
import { expireSession, placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** `currencies` of an operator's file binds the profiles of both session modes. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    operators: { alpha: { sessions: { mode: 'prefixed' } }, beta: {} },
  });
});
afterEach(async () => {
  await gateway.reconfigure('alpha', {});
  await gateway.reconfigure('beta', {});
});
afterAll(() => gateway.close());

let players = 0;

/** The token that the frontend of a player unknown to the gateway would pass. */
function prefixedToken(currency: string): string {
  players += 1;
  const own = `own-token-${players}`;
  const balances = { [currency]: '100' };
  gateway
    .wallet('alpha')
    .addPlayer({ user: `player-${players}`, balances, tokens: { [own]: currency } });
  return `alpha.${own}`;
}

async function learnt(token: string): Promise<ServicePlayer> {
  const { player } = await gateway.service.profile(token);
  if (player === undefined) throw new Error('the profile was not answered');
  return player;
}

async function expectProfile(token: string, status: number, code?: number): Promise<void> {
  const { status: seen, json } = await gateway.service.profile(token);
  expect([seen, json?.code]).toEqual([status, code]);
}

const place = (player: ServicePlayer) => {
  const slip = gateway.service.slip({ ...player, amount: '10' });
  return gateway.service.call('POST', '/payment/bet', placeBody(slip));
};

describe('a profile in a currency that the operator’s file does not list', () => {
  it('is refused with code 5 and opens no prefixed session', async () => {
    const token = prefixedToken('BRL');
    const refused = await gateway.service.profile(token);
    expect(refused.status).toBe(400);
    expect(refused.json).toEqual({ code: 5, message: expect.stringMatching(/^currency: /) });
    expect((await place({ token, userId: 'anybody', currency: 'BRL' })).json?.code).toBe(3);
  });

  it('is answered as soon as the file lists it', async () => {
    const token = prefixedToken('BRL');
    await expectProfile(token, 400, 5);
    await gateway.reconfigure('alpha', { currencies: ['USD', 'BRL'] });
    expect((await place(await learnt(token))).status).toBe(200);
  });

  it('ends its prefixed session with code 4 where that is in another currency', async () => {
    const token = prefixedToken('USD');
    await learnt(token);
    gateway.wallet('alpha').switchCurrency(`player-${players}`, 'BRL');
    await expectProfile(token, 400, 4);
  });
});

describe('a currency that is taken out of the file', () => {
  it('refuses the next profile of a prefixed session, which is not renewed', async () => {
    const token = prefixedToken('EUR');
    const player = await learnt(token);
    await gateway.reconfigure('alpha', { currencies: ['USD'] });
    await expectProfile(token, 400, 5);
    expect((await gateway.service.balance(player)).status).toBe(200);
    await expireSession(gateway, token);
    await expectProfile(token, 400, 5);
    expect((await place(player)).json?.code).toBe(4);
  });

  it('refuses the next profile of an issued session', async () => {
    const player = await gateway.player({ operatorId: 'beta', currency: 'EUR' });
    await expectProfile(player.token, 200);
    await gateway.reconfigure('beta', { currencies: ['USD'] });
    await expectProfile(player.token, 400, 5);
    await gateway.reconfigure('beta', {});
    await expectProfile(player.token, 200);
  });

  it('leaves open bets as they are: they settle, unsettle and roll back', async () => {
    const player = await gateway.player({ operatorId: 'beta', currency: 'EUR' });
    const [settled, rolledBack] = [
      await placedBet(gateway, { operatorId: 'beta', player }),
      await placedBet(gateway, { operatorId: 'beta', player }),
    ];
    await gateway.reconfigure('beta', { currencies: ['USD'] });
    await expectProfile(player.token, 400, 5);
    expect((await settled.settle('20')).status).toBe(200);
    expect((await settled.unsettle()).status).toBe(200);
    expect((await settled.settle('20')).status).toBe(200);
    expect((await rolledBack.rollback()).status).toBe(200);
    expect(gateway.wallet('beta').bets.get(rolledBack.transactionId)?.status).toBe('rolled_back');
  });
});
