import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperatorConfig } from '../../src/config/schema/schema.ts';
import { refuseStale } from '../../src/operators/freshness.ts';
import { parseJsonObject } from '../../src/protocol/json.ts';
import { Nonces } from '../../src/store/sessions/nonces.ts';
import type { SimulatedOperator } from '../../tools/simulator/operator.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { partly } from '../support/partly.ts';
import { onServer } from '../support/server.ts';

/** Captured bytes of an operator's request must be worthless elsewhere and a second time. */

const OPEN = '/operator/sessions';
const REVOKE = '/operator/sessions/revoke';

let gateway: TestGateway;
let alpha: SimulatedOperator;
/** The operator that requires freshness. */
let strict: SimulatedOperator;
let users = 0;
beforeAll(async () => {
  gateway = await startTestGateway({
    operators: { alpha: {}, strict: { api: { freshness: 'required' } } },
  });
  [alpha, strict] = [gateway.operator('alpha'), gateway.operator('strict')];
});
afterAll(async () => {
  await Promise.all([alpha.close(), strict.close()]);
  await gateway.close();
});

function opening(more: object = {}) {
  users += 1;
  const user = `user-${users}`;
  return { operatorUser: user, currency: 'USD', operatorToken: `own-token-of-${user}`, ...more };
}

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();
const fresh = (path: string) => ({ path, at: inMs(0), nonce: randomUUID() });

describe('a request that names its path', () => {
  it('is refused at another path, by 400/5 naming path', async () => {
    const body = { operatorUser: 'ann', path: OPEN };
    const elsewhere = await alpha.call(REVOKE, body);
    expect([elsewhere.status, elsewhere.json?.code]).toEqual([400, 5]);
    expect(elsewhere.json?.message).toMatch(/^path: /);
    expect((await alpha.call(REVOKE, { ...body, path: REVOKE })).status).toBe(200);
  });

  it.each([
    [-301_000, 400],
    [-290_000, 200],
    [290_000, 200],
    [301_000, 400],
  ])('is taken within five minutes of its at: %i ms from now is %i', async (ms, status) => {
    const answer = await alpha.call(REVOKE, { operatorUser: 'ann', at: inMs(ms) });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.json?.message).toMatch(/^at: /);
  });

  it('comes once: its nonce is refused again, also at a replica and without Redis (I5)', async () => {
    const replica = await gateway.replica();
    const there = replica.operator('alpha');
    const body = { operatorUser: 'ann', ...fresh(REVOKE) };
    expect((await alpha.call(REVOKE, body)).status).toBe(200);
    for (const again of [await alpha.call(REVOKE, body), await there.call(REVOKE, body)]) {
      expect([again.status, again.json?.code]).toEqual([400, 5]);
      expect(again.json?.message).toMatch(/^nonce: /);
    }
    // Another operator's nonces are its own (I8).
    expect((await strict.call(REVOKE, body)).status).toBe(200);
    await there.close();
  });

  it('is accepted once, even if it arrives ten times at the same moment', async () => {
    const body = { operatorUser: 'ann', ...fresh(REVOKE) };
    const answers = await Promise.all(Array.from({ length: 10 }, () => alpha.call(REVOKE, body)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('does not use its nonce up where it is refused for its path or time', async () => {
    const body = { operatorUser: 'ann', ...fresh(REVOKE) };
    expect((await alpha.call(REVOKE, { ...body, at: inMs(-400_000) })).status).toBe(400);
    expect((await alpha.call(REVOKE, { ...body, path: OPEN })).status).toBe(400);
    expect((await alpha.call(REVOKE, body)).status).toBe(200);
  });

  it('is asked for at the bonus API by the same rules', async () => {
    const path = '/bonuses/player/bonuses';
    const body = { userId: 'nobody-yet', ...fresh(path) };
    expect((await strict.call(path, body)).status).toBe(200);
    expect((await strict.call(path, body)).json?.message).toMatch(/^nonce: /);
    expect((await strict.call('/bonuses/bonus', { bonusId: 1, ...fresh(path) })).status).toBe(400);
  });
});

describe('api.freshness: required', () => {
  it.each(['path', 'at', 'nonce'] as const)('refuses a request without %s', async (name) => {
    const refused = await strict.call(REVOKE, {
      operatorUser: 'ann',
      ...fresh(REVOKE),
      [name]: undefined,
    });
    expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    expect(refused.json?.message).toBe(`${name}: must be given`);
  });
});

describe('a session that was revoked', () => {
  it('is not opened again by the request that had opened it (I11)', async () => {
    const asked = opening();
    const first = await alpha.openSession(asked);
    await alpha.revokeSessions({ token: first.session?.token ?? '' });
    for (const again of [await alpha.openSession(asked), await alpha.openSession(asked)]) {
      expect([again.status, again.json?.code]).toEqual([409, 8]);
    }
    // Nor by the same content in another order.
    const turned = Object.fromEntries(Object.entries(asked).reverse());
    expect((await alpha.call(OPEN, turned)).status).toBe(409);
  });

  it('is not opened again by any other request that it was given to', async () => {
    const asked = opening();
    const { session } = await alpha.openSession(asked);
    const repeats = [
      { ...asked, ttlSeconds: 60 },
      { ...asked, path: OPEN },
      { ...asked, at: inMs(0) },
    ];
    for (const repeat of repeats) {
      expect((await alpha.call(OPEN, repeat)).json?.token).toBe(session?.token);
    }
    await alpha.revokeSessions({ operatorUser: asked.operatorUser });
    for (const repeat of repeats) expect((await alpha.call(OPEN, repeat)).status).toBe(409);
  });

  it('is not opened again while the same request races its revocation', async () => {
    for (let round = 0; round < 10; round += 1) {
      const asked = opening();
      await alpha.openSession(asked);
      const [, ...racing] = await Promise.all([
        alpha.revokeSessions({ operatorUser: asked.operatorUser }),
        ...Array.from({ length: 5 }, () => alpha.openSession(asked)),
      ]);
      expect(new Set(racing.map(({ status }) => status)).difference(new Set([201, 409])).size).toBe(
        0,
      );
      const tokens = new Set(racing.flatMap(({ session }) => session?.token ?? []));
      expect(tokens.size).toBeLessThanOrEqual(1);
      expect((await alpha.openSession(asked)).status).toBe(409);
    }
  });
});

describe('nonces, whatever the clocks of processes say', () => {
  const MINUTE_MS = 60_000;
  const sql = (text: string) =>
    onServer(gateway.databaseUrl, async (client) => await client.query(text));

  it('take no captured request twice, where clocks are ten minutes apart (I5)', async () => {
    const { database } = gateway.parts;
    const api = partly<OperatorConfig['api']>({ freshness: 'optional' });
    const operator = partly<OperatorConfig>({ id: 'alpha', api });
    const nonce = randomUUID();
    const comesAt = async (aheadMs: number, sinceMs: number) => {
      const nowMs = Date.now() + aheadMs;
      const clock = { nowMs: () => nowMs, monotonicMs: () => 0 };
      // As it was signed: 14 minutes after the first arrived, on PostgreSQL's clock.
      const document = parseJsonObject(
        Buffer.from(JSON.stringify({ at: inMs(14 * MINUTE_MS - sinceMs), nonce })),
      );
      const nonces = new Nonces(database, clock);
      return await refuseStale(clock, nonces, { operator, document }, REVOKE);
    };
    expect(await comesAt(10 * MINUTE_MS, 0)).toBeUndefined();
    // Twelve minutes pass.
    await sql(`UPDATE operator_nonces SET expires_at = expires_at - interval '12 minutes'`);
    const again = await comesAt(0, 12 * MINUTE_MS);
    expect(again?.body).toContain('nonce: was used before');
    // And then so many that it is forgotten, with a clock that stands still.
    await sql('TRUNCATE operator_nonces');
    const forgotten = await comesAt(-20 * MINUTE_MS, 34 * MINUTE_MS);
    expect(forgotten?.body).toContain('at: must be within 5 minutes of now');
  });
});
