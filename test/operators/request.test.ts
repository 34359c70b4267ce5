import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
});
afterAll(() => gateway.close());

const PATHS = [
  '/operator/sessions',
  '/operator/sessions/revoke',
  '/operator/bets',
  '/operator/statements',
] as const;
const GOOD_FIELDS: Readonly<Record<(typeof PATHS)[number], object>> = {
  '/operator/sessions': { operatorUser: 'ann', currency: 'USD', operatorToken: 'anns-own-token' },
  '/operator/sessions/revoke': { operatorUser: 'ann' },
  '/operator/bets': { transactionId: 'no-such-transaction' },
  '/operator/statements': { day: '2026-11-20' },
};

/** What an outsider can compare: status, type and body; not the time of day. */
function seen({ status, body, headers }: CallResult) {
  return { status, body, type: headers['content-type'], length: headers['content-length'] };
}

describe.each(PATHS)('POST %s', (path) => {
  const post = (cid: unknown, signWith: string | null, fields: object = GOOD_FIELDS[path]) =>
    gateway.service.call('POST', path, { cid, ...fields }, { signWith });

  it('is admitted by cid and signature', async () => {
    const answer = await post('alpha-key', 'alpha-api-secret-that-is-long-enough');
    expect(answer.json?.code).not.toBe(1);
    expect(answer.status).not.toBe(401);
  });

  it('answers a wrong signature and an unknown cid with one and the same 401/1 (I8)', async () => {
    const refusals = [
      await post('alpha-key', 'beta-api-secret-that-is-long-enough'),
      await post('alpha-key', 'the-services-secret'),
      await post('alpha-key', 'alpha-wallet-secret'),
      await post('alpha-key', null),
      await post('nobodys-key', 'alpha-api-secret-that-is-long-enough'),
      await post('nobodys-key', 'nobody'),
      await post('nobodys-key', null),
      await post('aggregator-key', 'the-services-secret'),
      await post('', 'nobody'),
    ];
    expect(refusals[0]?.status).toBe(401);
    expect(refusals[0]?.json?.code).toBe(1);
    const [first] = refusals.map(seen);
    expect(refusals.map(seen)).toEqual(refusals.map(() => first));
  });

  it('refuses a body changed after it was signed', async () => {
    const signed = await gateway.operator('alpha').call(path, GOOD_FIELDS[path], {
      headers: { 'x-sign-jws': 'eyJhbGciOiJIUzI1NiJ9..AAAA' },
    });
    expect([signed.status, signed.json?.code]).toEqual([401, 1]);
  });

  it('checks the signature before it looks at the fields', async () => {
    const refused = await post('alpha-key', 'beta-api-secret-that-is-long-enough', {});
    expect([refused.status, refused.json?.code]).toEqual([401, 1]);
  });

  it.each([
    ['cid', { cid: undefined }],
    ['cid', { cid: 7 }],
    ['cid', { cid: null }],
  ])('without a %s in words it is 400/5 naming it: %o', async (field, wrong) => {
    const body = { ...GOOD_FIELDS[path], ...wrong };
    const refused = await gateway.service.call('POST', path, body, {
      signWith: 'alpha-api-secret-that-is-long-enough',
    });
    expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    expect(refused.json?.message).toContain(field);
  });

  it.each(['', 'null', '[]', '{', '{"cid":"alpha-key","cid":"beta-key"}', '\ufeff{}'])(
    'with the body %j is 400/5',
    async (body) => {
      const refused = await gateway.service.call('POST', path, body, {
        signWith: 'alpha-api-secret-that-is-long-enough',
      });
      expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    },
  );

  it('refuses a member that it does not know, by 400/5 naming it', async () => {
    const refused = await post('alpha-key', 'alpha-api-secret-that-is-long-enough', {
      ...GOOD_FIELDS[path],
      operatorUserId: 'x',
    });
    expect([refused.status, refused.json?.code]).toEqual([400, 5]);
    expect(refused.json?.message).toMatch(/^operatorUserId: /);
  });

  it.each([
    ['no JSON behind the cid', '{"cid":"alpha-key",'],
    ['two cids', '{"cid":"alpha-key","cid":"beta-key"}'],
    ['a cid twice, once in disguise', '{"cid":"alpha-key","c\\u0069d":"beta-key"}'],
    ['nesting without end', `{"cid":"alpha-key","x":${'['.repeat(5_000)}`],
  ])('reads nothing of a body with %s until its signature holds', async (_, body) => {
    const ask = (signWith: string) => gateway.service.call('POST', path, body, { signWith });
    const strangers = await ask('beta-api-secret-that-is-long-enough');
    expect([strangers.status, strangers.json?.code]).toEqual([401, 1]);
    const own = await ask('alpha-api-secret-that-is-long-enough');
    expect([own.status, own.json?.code]).toEqual([400, 5]);
  });
});

it('takes each of an operator’s secrets, and a new one from the reload on', async () => {
  const ask = (signWith: string) =>
    gateway.service.call(
      'POST',
      '/operator/bets',
      { cid: 'beta-key', transactionId: 'x' },
      { signWith },
    );
  expect((await ask('beta-next-secret-that-is-long-enough')).status).toBe(401);
  await gateway.reconfigure('beta', {
    api: {
      secrets: ['beta-next-secret-that-is-long-enough', 'beta-api-secret-that-is-long-enough'],
    },
  });
  expect((await ask('beta-next-secret-that-is-long-enough')).status).toBe(404);
  expect((await ask('beta-api-secret-that-is-long-enough')).status).toBe(404);
  await gateway.reconfigure('beta', { api: { secrets: ['beta-next-secret-that-is-long-enough'] } });
  expect((await ask('beta-api-secret-that-is-long-enough')).status).toBe(401);
  await gateway.reconfigure('beta', {});
});

it('is taken from the addresses in api.allowedIps alone, which strangers do not learn (I8)', async () => {
  const ask = (signWith: string) =>
    gateway.service.call(
      'POST',
      '/operator/bets',
      { cid: 'beta-key', transactionId: 'x' },
      { signWith },
    );
  await gateway.reconfigure('beta', { api: { allowedIps: ['192.0.2.0/24'] } });
  const refused = await ask('beta-api-secret-that-is-long-enough');
  expect([refused.status, refused.json?.code]).toEqual([403, 9]);
  expect((await ask('another-secret')).status).toBe(401);
  await gateway.reconfigure('beta', { api: { allowedIps: ['192.0.2.0/24', '127.0.0.0/8'] } });
  expect((await ask('beta-api-secret-that-is-long-enough')).status).toBe(404);
  await gateway.reconfigure('beta', {});
});
