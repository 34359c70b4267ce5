import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BONUS_METHODS } from '../../src/bonuses/method-names.ts';
import { type BonusGateway, seen, startBonusGateway } from './support/bonus-gateway.ts';

let deployment: BonusGateway;
beforeAll(async () => {
  deployment = await startBonusGateway();
});
afterAll(() => deployment.close());

describe.each(BONUS_METHODS)('POST /bonuses/%s', (method) => {
  const post = (cid: unknown, signWith: string | null) =>
    deployment.gateway.service.call('POST', `/bonuses/${method}`, { cid }, { signWith });

  it('is admitted by cid and signature', async () => {
    const answer = await post('alpha-key', 'alpha-api-secret-that-is-long-enough');
    expect(answer.status).not.toBe(401);
  });

  it('answers a wrong signature and an unknown cid with one and the same 401/1 (I8)', async () => {
    const refusals = [
      await post('alpha-key', 'beta-api-secret-that-is-long-enough'),
      await post('alpha-key', 'the-services-secret'),
      await post('alpha-key', null),
      await post('nobodys-key', 'alpha-api-secret-that-is-long-enough'),
      await post('aggregator-key', 'the-services-secret'),
    ];
    const [first] = refusals.map(seen);
    expect(first).toMatchObject({ status: 401 });
    expect(refusals.map(seen)).toEqual(refusals.map(() => first));
  });

  it('with a body over 256 KiB is 413/5, and with odd JSON 400/5', async () => {
    const pad = 'x'.repeat(256 * 1024);
    const big = await deployment.alpha.call(`/bonuses/${method}`, { pad });
    expect([big.status, big.json?.code]).toEqual([413, 5]);
    const twice = await deployment.gateway.service.call(
      'POST',
      `/bonuses/${method}`,
      '{"cid":"alpha-key","cid":"beta-key"}',
      { signWith: 'alpha-api-secret-that-is-long-enough' },
    );
    expect([twice.status, twice.json?.code]).toEqual([400, 5]);
  });

  it('is 403/9 for a suspended operator and where it is switched off, from the reload on', async () => {
    for (const settings of [{ status: 'suspended' }, { bonuses: { enabled: false } }]) {
      await deployment.gateway.reconfigure('beta', settings);
      const refused = await deployment.beta.call(`/bonuses/${method}`, {});
      expect([refused.status, refused.json?.code]).toEqual([403, 9]);
    }
    await deployment.gateway.reconfigure('beta', { status: 'maintenance' });
    expect((await deployment.beta.call(`/bonuses/${method}`, {})).status).not.toBe(403);
    await deployment.gateway.reconfigure('beta', {});
  });
});

it('counts requests by operator, method and outcome, those of strangers as unknown', async () => {
  const count = (operator: string, outcome: string) =>
    deployment.gateway.metric('gateway_bonus_requests_total', {
      operator,
      method: 'templates',
      outcome,
    });
  const before = [await count('alpha', 'ok'), await count('unknown', 'unauthorized')];
  await deployment.alpha.call('/bonuses/templates', {});
  await deployment.gateway.service.call('POST', '/bonuses/templates', { cid: 'made-up' });
  const after = [await count('alpha', 'ok'), await count('unknown', 'unauthorized')];
  expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([1, 1]);
});
