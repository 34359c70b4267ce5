import { compactVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SERVICE_SECRET } from '../support/gateway.ts';
import {
  type BonusGateway,
  SERVICE_CID,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

let deployment: BonusGateway;
beforeAll(async () => {
  deployment = await startBonusGateway();
});
afterAll(() => deployment.close());

describe('POST /bonuses/templates/add', () => {
  it('creates a template in the aggregator’s name and shows it in the operator’s', async () => {
    const made = await deployment.alpha.call(
      '/bonuses/templates/add',
      templateBody({ name: 'One' }),
    );
    expect(made.status).toBe(200);
    expect(made.json).toMatchObject({ name: 'One', cid: 'alpha-key', isEnable: true });
    expect(made.body).not.toContain(SERVICE_CID);
    const asked = deployment.api.requests.at(-1);
    expect(asked?.signedBy).toEqual([SERVICE_CID]);
    expect(JSON.parse(asked?.body ?? '')).toEqual({
      cid: SERVICE_CID,
      ...templateBody({ name: 'One' }),
    });
  });

  it('signs exactly the bytes it sends, by another library’s judgement too', async () => {
    await deployment.template(deployment.alpha, { name: 'Signed, déjà vu' });
    const asked = deployment.api.requests.at(-1);
    const [header, signature] = String(asked?.headers['x-sign-jws']).split('..');
    const payload = asked?.bytes.toString('base64url');
    const secret = new TextEncoder().encode(SERVICE_SECRET);
    const judged = await compactVerify(`${header}.${payload}.${signature}`, secret);
    expect(judged.protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(asked?.headers['content-type']).toBe('application/json');
  });

  it('passes amounts and odds to the letter (I9)', async () => {
    const body = JSON.stringify({ cid: 'alpha-key', ...templateBody({ name: 'Exact' }) })
      .replace('"betAmount":5', '"betAmount":5.10')
      .replace('"maxWin":4', '"maxWin":4e2')
      .replace('"minOdd":1', '"minOdd":1.010');
    const made = await deployment.gateway.service.call('POST', '/bonuses/templates/add', body, {
      signWith: 'alpha-api-secret-that-is-long-enough',
    });
    expect(made.status).toBe(200);
    const sent = deployment.api.requests.at(-1)?.body ?? '';
    expect(sent).toBe(body.replace('alpha-key', SERVICE_CID));
    expect(made.body).toContain('"betAmount":5.10');
    expect(made.body).toContain('"minOdd":1.010');
  });

  it('gives the same body the first answer again, whatever the order of its members', async () => {
    const fields = templateBody({ name: 'Once' });
    const first = await deployment.alpha.call('/bonuses/templates/add', fields);
    const count = deployment.api.templates.size;
    const again = await deployment.alpha.call('/bonuses/templates/add', fields);
    const turned = Object.fromEntries(Object.entries(fields).reverse());
    const other = await deployment.alpha.call('/bonuses/templates/add', turned);
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect([other.status, other.body]).toEqual([first.status, first.body]);
    expect(deployment.api.templates.size).toBe(count);
  });

  it('creates a template of its own for another operator with the same body (I8)', async () => {
    const fields = templateBody({ name: 'Both' });
    const ofAlpha = await deployment.alpha.call('/bonuses/templates/add', fields);
    const ofBeta = await deployment.beta.call('/bonuses/templates/add', fields);
    expect(ofBeta.status).toBe(200);
    expect(ofBeta.json?.id).not.toBe(ofAlpha.json?.id);
    expect(ofBeta.json?.cid).toBe('beta-key');
  });

  it('asks once when the same body comes twice at the same moment', async () => {
    const fields = templateBody({ name: 'Race' });
    const gate = deployment.api.hold('templates/add');
    const calls = [1, 2].map(() => deployment.alpha.call('/bonuses/templates/add', fields));
    await gate.arrived;
    const early = await Promise.race(calls);
    expect([early.status, early.json?.code]).toEqual([409, 8]);
    gate.release();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 409]);
    const made = [...deployment.api.templates.values()].filter(({ name }) => name === 'Race');
    expect(made).toHaveLength(1);
  });
});
