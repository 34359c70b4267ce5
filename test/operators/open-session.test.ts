import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

describe('POST /operator/sessions', () => {
  let gateway: TestGateway;
  let alpha: SimulatedOperator;
  let users = 0;
  beforeAll(async () => {
    gateway = await startTestGateway({
      operators: { alpha: { sessions: { ttlSeconds: 600 } }, beta: {} },
    });
    alpha = gateway.operator('alpha');
  });
  afterAll(async () => {
    await alpha.close();
    await gateway.close();
  });

  /** A request for a player not seen before. */
  function request(more: object = {}) {
    users += 1;
    const user = `user-${users}`;
    return { operatorUser: user, currency: 'USD', operatorToken: `own-token-of-${user}`, ...more };
  }

  it('answers 201 with userId, token and expiresAt, and nothing else', async () => {
    const before = Date.now();
    const opened = await alpha.openSession(request());
    expect(opened.status).toBe(201);
    expect(opened.json).toEqual({
      userId: expect.stringMatching(/^.{1,64}$/),
      token: expect.stringMatching(/^[A-Za-z0-9_-]{10,64}$/),
      expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/),
    });
    const livesMs = Date.parse(opened.session?.expiresAt ?? '') - before;
    expect(livesMs).toBeGreaterThan(590_000);
    expect(livesMs).toBeLessThan(610_000);
  });

  it('gives the same live session again, and does not extend it', async () => {
    const asked = request({ ttlSeconds: 60 });
    const first = await alpha.openSession(asked);
    const again = await alpha.openSession({ ...asked, ttlSeconds: 2_000_000 });
    expect([again.status, again.body]).toEqual([201, first.body]);
  });

  it('gives the same session to all who ask at once, at every replica (I5)', async () => {
    const replica = await gateway.replica();
    const there = replica.operator('alpha');
    const asked = request();
    const opened = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 === 0 ? alpha : there).openSession(asked),
      ),
    );
    await there.close();
    expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 201));
    expect(new Set(opened.map(({ body }) => body)).size).toBe(1);
  });

  it('opens another beside it for another operatorToken: both live', async () => {
    const { user, userId, token, currency } = await gateway.player();
    const operatorToken = 'another-own-token';
    gateway.wallet('alpha').issueToken(operatorToken, user, currency);
    const other = await alpha.openSession({ operatorUser: user, currency, operatorToken });
    expect(other.session?.token).not.toBe(token);
    for (const one of [token, other.session?.token ?? '']) {
      expect((await gateway.service.balance({ userId, token: one, currency })).status).toBe(200);
    }
  });

  it('derives another token for another operator, player, currency or operator token (I8)', async () => {
    const same = { operatorUser: 'same', currency: 'USD', operatorToken: 'the-same-own-token' };
    const beta = gateway.operator('beta');
    const opened = [
      await alpha.openSession(same),
      await beta.openSession(same),
      await alpha.openSession({ ...same, operatorUser: 'same2' }),
      await alpha.openSession({ ...same, currency: 'EUR' }),
      await alpha.openSession({ ...same, operatorToken: 'the-other-own-token' }),
    ];
    await beta.close();
    expect(new Set(opened.map(({ session }) => session?.token)).size).toBe(5);
  });

  it.each([
    ['operatorUser', { operatorUser: 'a b' }],
    ['operatorUser', { operatorUser: undefined }],
    ['operatorUser', { operatorUser: 7 }],
    ['currency', { currency: 'GBP' }],
    ['currency', { currency: undefined }],
    ['currency', { currency: 'usd' }],
    ['operatorToken', { operatorToken: undefined }],
    ['operatorToken', { operatorToken: '' }],
    ['operatorToken', { operatorToken: 'nul\0' }],
    ['operatorToken', { operatorToken: null }],
    ['ttlSeconds', { ttlSeconds: 0 }],
    ['ttlSeconds', { ttlSeconds: 2_592_001 }],
    ['ttlSeconds', { ttlSeconds: 1.5 }],
    ['ttlSeconds', { ttlSeconds: '60' }],
  ])('refuses a wrong %s with 400/5 naming it: %o', async (field, wrong) => {
    const refused = await alpha.call('/operator/sessions', request(wrong));
    expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    expect(refused.json?.message).toContain(field);
  });

  it('is refused with 403/9 to an operator whose players bring its own tokens', async () => {
    await gateway.reconfigure('alpha', { sessions: { mode: 'prefixed' } });
    const refused = await alpha.openSession(request());
    await gateway.reconfigure('alpha', {});
    expect([refused.status, refused.json?.code]).toEqual([403, 9]);
  });

  it('is refused with 403/9 while the operator is suspended, not while in maintenance', async () => {
    await gateway.reconfigure('alpha', { status: 'suspended' });
    const refused = await alpha.openSession(request());
    await gateway.reconfigure('alpha', { status: 'maintenance' });
    const opened = await alpha.openSession(request());
    await gateway.reconfigure('alpha', {});
    expect([refused.status, refused.json?.code]).toEqual([403, 9]);
    expect(opened.status).toBe(201);
  });
});
