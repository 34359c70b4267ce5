import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { balanceBody, placeBody } from '../../src/protocol/callback-bodies.ts';
import { expireSession } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onServer } from '../support/server.ts';

/** `sessions.mode: prefixed`: the frontend passes `<id>.<operatorToken>`, and profiles supply the rest. */
describe('a prefixed session', () => {
  let gateway: TestGateway;
  let players = 0;
  /** A player unknown to the gateway, and the token that the frontend would pass. */
  let user: string;
  let own: string;
  let token: string;

  beforeAll(async () => {
    gateway = await startTestGateway({
      operators: {
        alpha: { sessions: { mode: 'prefixed', ttlSeconds: 100 } },
        beta: { sessions: { mode: 'prefixed' } },
      },
    });
  });
  afterAll(() => gateway.close());
  beforeEach(() => {
    players += 1;
    user = `prefixed-${players}`;
    own = `own.token-${players}`;
    token = `alpha.${own}`;
    gateway
      .wallet('alpha')
      .addPlayer({ user, balances: { USD: '100', EUR: '100' }, tokens: { [own]: 'USD' } });
  });

  const revoke = (which: { token: string } | { operatorUser: string }) =>
    gateway.operator('alpha').revokeSessions(which);
  const place = (userId: string) => {
    const slip = gateway.service.slip({ token, userId, currency: 'USD', amount: '10' });
    return gateway.service.call('POST', '/payment/bet', placeBody(slip));
  };

  async function secondsLeft(): Promise<number> {
    return await onServer(gateway.databaseUrl, async (client) => {
      const { rows } = await client.query<{ left: number }>(
        `SELECT extract(epoch FROM expires_at - clock_timestamp())::float8 AS left
           FROM sessions WHERE token_hash = sha256($1::bytea)`,
        [Buffer.from(token)],
      );
      return rows[0]?.left ?? 0;
    });
  }

  it('is learnt from the wallet’s profile, which gets the token without its prefix', async () => {
    const profile = await gateway.service.profile(token);
    expect(profile.status).toBe(200);
    expect(profile.json).toMatchObject({ customFields: { operatorUser: user }, currency: 'USD' });
    const request = gateway.wallet('alpha').requests.at(-1);
    expect(JSON.parse(String(request?.body)).token).toBe(own);
    const { userId } = profile.player ?? { userId: '' };
    expect((await gateway.service.balance({ token, userId, currency: 'USD' })).amount).toBe('100');
    expect((await place(userId)).status).toBe(200);
  });

  it('never seen in a profile is refused with code 3: balance and place ask no wallet', async () => {
    const asked = { token, userId: 'whoever', currency: 'USD' };
    const before = gateway.wallet('alpha').requests.length;
    const balance = await gateway.service.call('POST', '/user/balance', balanceBody(asked));
    expect([balance.status, balance.json?.code]).toEqual([400, 3]);
    expect((await place('whoever')).json?.code).toBe(3);
    expect(gateway.wallet('alpha').requests).toHaveLength(before);
  });

  it('is renewed by each good profile, and by nothing else', async () => {
    const { player } = await gateway.service.profile(token);
    if (player === undefined) throw new Error('no player');
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE sessions SET expires_at = clock_timestamp() + interval '30 seconds'`),
    );
    await gateway.service.balance(player);
    expect(await secondsLeft()).toBeLessThan(31);
    await gateway.service.profile(token);
    expect(await secondsLeft()).toBeGreaterThan(90);
    expect((await gateway.service.profile(token)).player?.userId).toBe(player.userId);
  });

  it('that expired is code 4 for a balance, and lives again after the next profile', async () => {
    const { player } = await gateway.service.profile(token);
    if (player === undefined) throw new Error('no player');
    await expireSession(gateway, token);
    expect((await gateway.service.balance(player)).json?.code).toBe(4);
    expect((await place(player.userId)).json?.code).toBe(4);
    expect((await gateway.service.profile(token)).status).toBe(200);
    expect((await gateway.service.balance(player)).status).toBe(200);
    expect((await place(player.userId)).status).toBe(200);
  });

  it.each([
    ['live', 'token'],
    ['live', 'operatorUser'],
    ['expired', 'token'],
    ['expired', 'operatorUser'],
  ])('revoked while %s, by its %s, stays revoked: no profile revives it', async (state, by) => {
    const { player } = await gateway.service.profile(token);
    if (player === undefined) throw new Error('no player');
    await gateway.service.balance(player);
    if (state === 'expired') await expireSession(gateway, token);
    const revoked = await revoke(by === 'token' ? { token } : { operatorUser: user });
    expect(revoked.json).toEqual({ revoked: 1 });
    const before = gateway.wallet('alpha').requests.length;
    expect((await gateway.service.profile(token)).json?.code).toBe(3);
    expect((await gateway.service.balance(player)).json?.code).toBe(3);
    expect((await place(player.userId)).json?.code).toBe(3);
    expect(gateway.wallet('alpha').requests).toHaveLength(before);
  });

  it('stays one player’s: a profile that names another is a broken answer (I8)', async () => {
    const { player } = await gateway.service.profile(token);
    const body = '{"userId":"somebody-else","currency":"USD","currencies":["USD"]}';
    const other = { kind: 'status', status: 200, body } as const;
    gateway.wallet('alpha').misbehave('profile', other, { calls: 1 });
    const answer = await gateway.service.profile(token);
    expect([answer.status, answer.json?.code]).toEqual([503, 100]);
    expect((await gateway.service.profile(token)).player?.userId).toBe(player?.userId);
  });

  it('of one operator is nobody’s at another, whatever prefix is tried (I8)', async () => {
    await gateway.service.profile(token);
    expect((await gateway.service.profile(`beta.${own}`)).json?.code).toBe(3);
    expect((await gateway.service.profile(`gamma.${own}`)).json?.code).toBe(3);
    expect((await gateway.service.profile(own)).json?.code).toBe(3);
  });

  it('cannot be opened by the operator API: code 9', async () => {
    const request = { operatorUser: user, currency: 'USD', operatorToken: own };
    const refused = await gateway.operator('alpha').openSession(request);
    expect([refused.status, refused.json?.code]).toEqual([403, 9]);
  });
});
