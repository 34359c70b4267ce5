import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

const cashout = (bet: TestBet, token?: string) => bet.settle('80', 'cashout', token);

/** The token that the wallet received. */
const tokenSent = (bet: TestBet): unknown => JSON.parse(String(bet.lastRequest().body)).token;

/** Opens another live session of the bet's player, with an operator token that the wallet knows. */
async function openSession(
  bet: TestBet,
  currency: string,
): Promise<{ token: string; own: string }> {
  const { user } = bet.player;
  const own = `another-token-${user}-${currency}`;
  if (currency === bet.player.currency) bet.wallet.issueToken(own, user, currency);
  const operator = gateway.operator('alpha');
  const opened = await operator.openSession({ operatorUser: user, currency, operatorToken: own });
  await operator.close();
  return { token: opened.session?.token ?? '', own };
}

describe('a cashout', () => {
  it('with a live token of its player is paid, and the wallet gets the operator’s token', async () => {
    const bet = await placedBet(gateway);
    expect((await cashout(bet, bet.player.token)).status).toBe(200);
    expect(tokenSent(bet)).toBe(bet.player.operatorToken);
    expect(bet.balance()).toBe('980');
  });

  it('takes any of the player’s sessions, and the wallet gets that session’s token', async () => {
    const bet = await placedBet(gateway);
    const other = await openSession(bet, 'USD');
    expect((await cashout(bet, other.token)).status).toBe(200);
    expect(tokenSent(bet)).toBe(other.own);
  });

  async function expectRefused(bet: TestBet, token: string | undefined, code: number) {
    const answer = await cashout(bet, token);
    expect([answer.status, answer.json?.code]).toEqual([400, code]);
    expect(bet.arrivals()).toEqual(['place']);
  }

  it('without a token is refused with code 3 and not sent', async () => {
    await expectRefused(await placedBet(gateway), undefined, 3);
  });

  it.each(['alpha', 'beta'])(
    'with the token of another player of %s is refused with code 3 (I8)',
    async (id) => {
      const other = await gateway.player({ operatorId: id });
      await expectRefused(await placedBet(gateway), other.token, 3);
    },
  );

  it('that was paid is answered again although its session has ended since (I5)', async () => {
    const bet = await placedBet(gateway);
    const paid = await cashout(bet, bet.player.token);
    await gateway.operator('alpha').revokeSessions({ token: bet.player.token });
    expect((await cashout(bet, bet.player.token)).body).toBe(paid.body);
    expect(bet.arrivals()).toEqual(['place', 'settle']);
  });
});

describe('the token of a settle that is no cashout', () => {
  it('is not needed, and the wallet gets none where the service sent none', async () => {
    const bet = await placedBet(gateway);
    await gateway.operator('alpha').revokeSessions({ token: bet.player.token });
    expect((await bet.settle('10')).status).toBe(200);
    expect(JSON.parse(String(bet.lastRequest().body))).not.toHaveProperty('token');
  });

  it('is never another player’s: an unknown bet with a foreign token goes without (I8)', async () => {
    const player = await gateway.player();
    const stranger = await gateway.player({ operatorId: 'beta' });
    const slip = gateway.service.slip({ ...player, amount: '10' });
    const body = placeBody(slip, { type: '2', resultType: '"won"', token: `"${stranger.token}"` });
    await gateway.service.call('PUT', '/payment/bet', body);
    const request = gateway.wallet('alpha').requests.at(-1);
    expect(String(request?.body)).toContain(slip.transactionId);
    expect(JSON.parse(String(request?.body))).not.toHaveProperty('token');
  });
});
