import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { expireSession } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

describe('POST /operator/sessions/revoke', () => {
  let gateway: TestGateway;
  let alpha: SimulatedOperator;
  let beta: SimulatedOperator;
  beforeAll(async () => {
    gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
    alpha = gateway.operator('alpha');
    beta = gateway.operator('beta');
  });
  afterAll(async () => {
    await Promise.all([alpha.close(), beta.close()]);
    await gateway.close();
  });

  const revoked = (count: number) => ({ status: 200, json: { revoked: count } });
  const isLive = async (token: string) => (await gateway.service.profile(token)).status === 200;

  it('ends the session of a token, once', async () => {
    const player = await gateway.player();
    expect(await alpha.revokeSessions({ token: player.token })).toMatchObject(revoked(1));
    expect(await isLive(player.token)).toBe(false);
    expect(await alpha.revokeSessions({ token: player.token })).toMatchObject(revoked(0));
  });

  it('ends all live sessions of a player and counts them', async () => {
    const { user, token, operatorToken } = await gateway.player();
    const more = ['EUR', 'USD'].map((currency, index) => ({
      operatorUser: user,
      currency,
      operatorToken: `${operatorToken}-${index}`,
    }));
    const opened = await Promise.all(more.map((request) => alpha.openSession(request)));
    await expireSession(gateway, opened[0]?.session?.token ?? '');
    expect(await alpha.revokeSessions({ operatorUser: user })).toMatchObject(revoked(2));
    for (const ended of [token, ...opened.map(({ session }) => session?.token ?? '')]) {
      expect(await isLive(ended)).toBe(false);
    }
    expect(await alpha.revokeSessions({ operatorUser: user })).toMatchObject(revoked(0));
  });

  it('leaves the same operatorUser of another operator alone (I8)', async () => {
    const ours = await gateway.player({ user: 'namesake' });
    const theirs = await gateway.player({ operatorId: 'beta', user: 'namesake' });
    expect(await alpha.revokeSessions({ operatorUser: 'namesake' })).toMatchObject(revoked(1));
    expect(await isLive(ours.token)).toBe(false);
    expect(await isLive(theirs.token)).toBe(true);
  });

  it('works while the operator is suspended: what must stop can be stopped', async () => {
    const player = await gateway.player();
    await gateway.reconfigure('alpha', { status: 'suspended' });
    const answer = await alpha.revokeSessions({ token: player.token });
    await gateway.reconfigure('alpha', {});
    expect(answer).toMatchObject(revoked(1));
  });

  it.each([
    ['neither', {}],
    ['both', { token: 'a-token-of-theirs', operatorUser: 'ann' }],
    ['a token that is no text', { token: 7 }],
    ['an operatorUser that cannot be one', { operatorUser: 'a b' }],
    ['an empty token', { token: '' }],
  ])('with %s of token and operatorUser is 400/5', async (_, fields) => {
    const refused = await alpha.call('/operator/sessions/revoke', fields);
    expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    expect(refused.json?.message).toMatch(/token|operatorUser/);
  });
});
