import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { balanceBody, placeBody } from '../../src/protocol/callback-bodies.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** One person is one `userId` for the service and one `operatorUser` for the operator, for ever. */
describe('a player’s identity', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
    for (const id of ['alpha', 'beta']) {
      gateway.wallet(id).addPlayer({
        user: 'ann',
        balances: { USD: '100', EUR: '200' },
        tokens: { 'ann-token-usd': 'USD', 'ann-token-eur': 'EUR' },
      });
    }
  });
  afterAll(() => gateway.close());

  let requests = 0;
  /** Each request is unique: bytes that opened a session which was revoked would open no other. */
  async function session(id: string, currency: string, operatorToken: string) {
    const operator = gateway.operator(id);
    requests += 1;
    const request = { operatorUser: 'ann', currency, operatorToken, ttlSeconds: 3_600 + requests };
    const opened = await operator.openSession(request);
    await operator.close();
    if (opened.session === undefined) throw new Error(opened.body);
    return { ...opened.session, currency };
  }
  const dollars = (id = 'alpha') => session(id, 'USD', 'ann-token-usd');
  const euros = (id = 'alpha') => session(id, 'EUR', 'ann-token-eur');

  it('is one constant userId of 1 to 64 characters in every currency', async () => {
    const [one, other] = [await dollars(), await euros()];
    expect(other.userId).toBe(one.userId);
    expect(one.userId).toMatch(/^.{1,64}$/);
  });

  it('has a token for each currency, valid only in that one', async () => {
    const [one, other] = [await dollars(), await euros()];
    expect(one.token).not.toBe(other.token);
    for (const { token } of [one, other]) expect(token).toMatch(/^[A-Za-z0-9_-]{10,64}$/);

    const wrong = { userId: one.userId, currency: 'EUR', token: one.token };
    const balance = await gateway.service.call('POST', '/user/balance', balanceBody(wrong));
    expect([balance.status, balance.json?.code]).toEqual([400, 3]);
    const slip = gateway.service.slip({ ...wrong, amount: '10' });
    const place = await gateway.service.call('POST', '/payment/bet', placeBody(slip));
    expect([place.status, place.json?.code]).toEqual([400, 3]);
    expect(gateway.wallet('alpha').arrivals(slip.transactionId)).toEqual([]);
  });

  it('keeps a bet in the currency it was placed in when the player has moved on', async () => {
    const [one] = [await dollars(), await euros()];
    const place = await gateway.service.place({ ...one, amount: '10' });
    await gateway.operator('alpha').revokeSessions({ token: one.token });
    expect(
      (await gateway.service.settle(place.transactionId, { amount: '30', resultType: 'won' })).kind,
    ).toBe('confirmed');
    expect(gateway.wallet('alpha').balance('ann', 'USD')).toBe('120');
    expect(gateway.wallet('alpha').balance('ann', 'EUR')).toBe('200');
  });

  it.each(['', 'x'.repeat(65), 'a b', 'a/b', 'ä', 'a\n', 'a@b', 'a+b', '%41'])(
    'may not be called %j: code 5 naming the field',
    async (operatorUser) => {
      const request = { operatorUser, currency: 'USD', operatorToken: 'a-token-of-theirs' };
      const refused = await gateway.operator('alpha').openSession(request);
      expect([refused.status, refused.json?.code]).toEqual([400, 5]);
      expect(refused.json?.message).toContain('operatorUser');
    },
  );
});
