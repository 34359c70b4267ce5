import { describe, expect, it } from 'vitest';
import { BONUS_METHODS } from '../../../../src/bonuses/method-names.ts';
import { startBonusApi } from '../../../../tools/simulator/bonus-api/bonus-api.ts';
import { SignedClient } from '../../../../tools/simulator/signed-client.ts';
import fixture from '../../../fixtures/vectors.json' with { type: 'json' };
import { CID, OTHER_CID, OTHER_SECRET, SECRET, useBonusApi } from './support/bonus-api.ts';

const bench = useBonusApi();

const published = fixture.vectors.filter(({ path }) => path?.startsWith('/bonuses/'));

describe('the published signatures', () => {
  it.each(published)('$id is judged as it was found to be', async (vector) => {
    const { secret = '', header = '', body, path = '', expect: expected } = vector;
    const partners = [{ cid: 'fbet', secrets: [secret] }];
    const api = await startBonusApi({ partners });
    const client = new SignedClient({ baseUrl: api.url, secret: 'not used' });
    const headers = { 'x-sign-jws': header };
    const { json } = await client.call('POST', path, body ?? '', { signWith: null, headers });
    expect(json?.code === 1).toBe(expected === 'invalid');
    expect(api.requests.map(({ signature }) => signature.ok)).toEqual([expected === 'valid']);
    await client.close();
    await api.close();
  });
});

describe('who may ask', () => {
  const body = JSON.stringify({ cid: CID });

  it.each(BONUS_METHODS)(
    'refuses %s with a wrong signature, before it reads it',
    async (method) => {
      const { client } = bench();
      const signWith = 'another secret';
      const { status, json } = await client.call('POST', `/bonuses/${method}`, 'no', { signWith });
      expect({ status, code: json?.code }).toEqual({ status: 401, code: 1 });
    },
  );

  it('refuses no signature, and an unknown partner alike', async () => {
    const { client } = bench();
    const none = await client.call('POST', '/bonuses/templates', body, { signWith: null });
    const unknown = await client.call('POST', '/bonuses/templates', { cid: 'nobody' });
    expect([none.status, none.body]).toEqual([401, '{"code":1,"message":"Invalid signature"}']);
    expect([unknown.status, unknown.body]).toEqual([none.status, none.body]);
  });

  it("refuses one partner's signature under another's key", async () => {
    const { client, api } = bench();
    const foreign = await client.call('POST', '/bonuses/templates', { cid: OTHER_CID });
    expect(foreign.status).toBe(401);
    const own = await client.call(
      'POST',
      '/bonuses/templates',
      { cid: OTHER_CID },
      { signWith: OTHER_SECRET },
    );
    expect(own.status).toBe(200);
    expect(api.requests.map(({ signedBy }) => signedBy)).toEqual([[CID], [OTHER_CID]]);
  });

  it('takes every secret of a partner, and none that was taken away', async () => {
    const { api, call } = bench();
    api.setPartners([{ cid: CID, secrets: ['a new secret', SECRET] }]);
    expect((await call('templates')).status).toBe(200);
    api.setPartners([{ cid: CID, secrets: ['a new secret'] }]);
    expect((await call('templates')).status).toBe(401);
  });

  it('knows seven paths, and POST alone', async () => {
    const { client } = bench();
    expect((await client.call('POST', '/bonuses/everything', body)).status).toBe(404);
    expect((await client.call('PUT', '/bonuses/templates', body)).status).toBe(405);
  });

  it('wants a JSON object with a cid', async () => {
    const { client } = bench();
    expect((await client.call('POST', '/bonuses/templates', '[]')).json).toMatchObject({ code: 5 });
    expect((await client.call('POST', '/bonuses/templates', '{}')).json).toEqual({
      code: 5,
      message: 'cid is missing',
    });
  });
});

describe('what it remembers', () => {
  it('has every request as it came, whatever it was worth', async () => {
    const { api, client } = bench();
    const text = `{ "cid" : "${CID}", "page": 1.0 }`;
    await client.call('POST', '/bonuses/templates', text, { headers: { 'x-request-id': 'r-1' } });
    await client.call('POST', '/bonuses/nothing', 'x', { signWith: null });
    const [first, second] = api.requests;
    expect(first).toMatchObject({ method: 'templates', httpMethod: 'POST', body: text });
    expect(first).toMatchObject({ signature: { ok: true }, headers: { 'x-request-id': 'r-1' } });
    expect(second).toMatchObject({ method: undefined, path: '/bonuses/nothing', signedBy: [] });
    expect(second?.signature).toEqual({ ok: false, reason: 'missing' });
  });

  it('keeps its books and its port while it is down', async () => {
    const { api, call } = bench();
    const { id } = api.createTemplate(CID);
    const { url } = api;
    await api.down();
    expect((await call('template', { templateId: id })).failure).toBe('connection');
    await api.up();
    expect(api.url).toBe(url);
    expect((await call('template', { templateId: id })).status).toBe(200);
  });
});
