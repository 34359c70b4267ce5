import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startBonusApi } from '../../tools/simulator/bonus-api/bonus-api.ts';
import type { BonusMisbehaviour } from '../../tools/simulator/bonus-api/misbehaviour.ts';
import { expectDocumented } from '../openapi/support/documented.ts';
import { placedBet } from '../support/bet.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import {
  type BonusGateway,
  batchBody,
  SERVICE_CID,
  startBonusGateway,
  templateBody,
} from './support/bonus-gateway.ts';

const TIMEOUT_MS = 2_000;

let deployment: BonusGateway;
let template: number;
let bonus: number;
beforeAll(async () => {
  deployment = await startBonusGateway({ service: { bonusTimeoutMs: TIMEOUT_MS } });
  template = await deployment.template(deployment.alpha);
  bonus = await deployment.bonus(deployment.alpha, template, 'ann');
});
afterAll(() => deployment.close());
beforeEach(async () => {
  // Otherwise the breaker would rightly open after so many failures in a row.
  for (let call = 0; call < 3; call += 1) {
    await deployment.alpha.call('/bonuses/template', { templateId: template });
  }
});
afterEach(() => deployment.api.behave());

const READS: readonly [method: string, fields: () => object][] = [
  ['template', () => ({ templateId: template })],
  ['bonus', () => ({ bonusId: bonus })],
  ['player/bonuses', () => ({ userId: 'ann' })],
  ['bonus/revokeBatch', () => ({ bonusesIds: [bonus] })],
];

const FAULTS: readonly [what: string, how: BonusMisbehaviour, status: number][] = [
  ['a 500', { kind: 'status', status: 500 }, 502],
  ['a redirect', { kind: 'status', status: 302 }, 502],
  ['an error page with status 200', { kind: 'html' }, 502],
  [
    'a system error with status 200',
    { kind: 'status', status: 200, body: '{"code":100,"message":"System error"}' },
    502,
  ],
  ['a body that breaks off', { kind: 'brokenJson' }, 502],
  ['a broken connection', { kind: 'reset' }, 504],
  ['silence', { kind: 'hang' }, 504],
  ['a 404 of something in between', { kind: 'status', status: 404, body: '<p>no</p>' }, 502],
  ['a refusal of the gateway’s signature', { kind: 'status', status: 401 }, 502],
  [
    'a refusal of the gateway’s key with code 1',
    { kind: 'status', status: 400, body: `{"code":1,"message":"bad sign of ${SERVICE_CID}"}` },
    502,
  ],
];

it.each(FAULTS)('answers %s as a system error', async (_, how, status) => {
  deployment.api.misbehave('any', how, { calls: 1 });
  const answer = await deployment.alpha.call('/bonuses/template', { templateId: template });
  expect([answer.status, answer.json?.code]).toEqual([status, 100]);
  expect(answer.body).not.toContain(SERVICE_CID);
});

describe.each(READS)('POST /bonuses/%s', (method, fields) => {
  it.each([
    ['its seconds', { 'retry-after': '17' }, '17'],
    ['nothing', {}, '1'],
  ])('passes a 429 on with Retry-After, where the service says %s', async (_, headers, seconds) => {
    deployment.api.misbehave('any', { kind: 'status', status: 429, headers }, { calls: 1 });
    const answer = await deployment.alpha.call(`/bonuses/${method}`, fields());
    expect([answer.status, answer.json?.code]).toEqual([429, 10]);
    expect(answer.headers['retry-after']).toBe(seconds);
  });

  it('passes the service’s own refusal on in the operator’s terms, as documented', async () => {
    const [{ user_id: userId } = { user_id: '?' }] = await deployment.sql<{ user_id: string }>(
      "SELECT user_id FROM players WHERE operator_user = 'ann'",
    );
    const message = `${SERVICE_CID} has no ${userId} nor 0b9e1f6c-6c0e-4b0f-a3d6-aaaaaaaaaaaa`;
    const body = JSON.stringify({ code: 77, message, trace: userId });
    deployment.api.misbehave('any', { kind: 'status', status: 422, body }, { calls: 1 });
    const answer = await deployment.alpha.call(`/bonuses/${method}`, fields());
    expect([answer.status, answer.json?.code]).toEqual([422, 77]);
    expectDocumented(`POST /bonuses/${method}`, answer);
    expect(answer.body).not.toContain(SERVICE_CID);
    expect(answer.body).not.toContain(userId);
    expect(answer.body).not.toContain('0b9e1f6c');
    expect(Object.keys(answer.json ?? {})).toEqual(['code', 'message']);
  });
});

it('masks the secret that the service quotes, and the signature of a call', async () => {
  const signature = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9..dGhlIHNpZ25hdHVyZSBvZiBhIGNhbGwgdG8gaXQ';
  const message = `${SERVICE_SECRET} does not sign ${signature}`;
  const refused = {
    kind: 'status',
    status: 422,
    body: JSON.stringify({ code: 77, message }),
  } as const;
  deployment.api.misbehave('any', refused, { calls: 1 });
  const answer = await deployment.alpha.call('/bonuses/template', { templateId: template });
  expect([answer.status, answer.json]).toEqual([
    422,
    { code: 77, message: '*** does not sign ***' },
  ]);
  const errorItems = [{ bonusId: bonus, code: 36, message: `key ${SERVICE_SECRET}` }];
  const partly = {
    kind: 'status',
    status: 200,
    body: JSON.stringify({ items: [], errorItems }),
  } as const;
  deployment.api.misbehave('bonus/revokeBatch', partly, { calls: 1 });
  const batch = await deployment.alpha.call('/bonuses/bonus/revokeBatch', { bonusesIds: [bonus] });
  expect(batch.status).toBe(200);
  expect(batch.body).toContain('key ***');
  expect(batch.body).not.toContain(SERVICE_SECRET);
});

it.each([
  ['bonus/revokeBatch', () => ({ bonusesIds: [bonus, 7_654_321] })],
  ['player/bonuses', () => ({ userId: 'ann' })],
] as const)('takes no error that comes with HTTP 200 for a success: %s', async (method, fields) => {
  const body = '{"code":36,"message":"error revoking bonus"}';
  deployment.api.misbehave(method, { kind: 'status', status: 200, body });
  const answer = await deployment.alpha.call(`/bonuses/${method}`, fields());
  expect([answer.status, answer.json?.code]).toEqual([502, 100]);
});

it('lets a create be repeated when it certainly was not made', async () => {
  const body = templateBody({ name: 'Repeatable' });
  const create = () => deployment.alpha.call('/bonuses/templates/add', body);
  deployment.api.misbehave(
    'templates/add',
    { kind: 'status', status: 400, body: '{"code":5,"message":"maxOdd: too low"}' },
    { calls: 1 },
  );
  const refused = await create();
  expect([refused.status, refused.body]).toEqual([400, '{"code":5,"message":"maxOdd: too low"}']);
  deployment.api.misbehave('templates/add', { kind: 'status', status: 401 }, { calls: 1 });
  expect((await create()).status).toBe(502);
  await deployment.api.down();
  const away = await create();
  expect([away.status, away.json?.code]).toEqual([503, 100]);
  await deployment.api.up();
  expect((await create()).status).toBe(200);
});

it.each([10, 100])(
  'passes a 429 to a batch on whatever its code, such as %i: nothing was made',
  async (code) => {
    const apply = () =>
      deployment.alpha.call('/bonuses/bonus/applyBatch', batchBody(template, [`hasty-${code}`]));
    const body = `{"code":${code},"message":"slow down"}`;
    const limited = { kind: 'status', status: 429, body, headers: { 'retry-after': '7' } } as const;
    deployment.api.misbehave('bonus/applyBatch', limited, { calls: 1 });
    const refused = await apply();
    expect([refused.status, refused.body, refused.headers['retry-after']]).toEqual([
      429,
      body,
      '7',
    ]);
    expect((await apply()).status).toBe(200);
  },
);

it('answers a batch within bonusTimeoutMs when the service trickles', async () => {
  deployment.api.misbehave('bonus/applyBatch', { kind: 'trickle', intervalMs: 50 }, { calls: 1 });
  const answer = await deployment.alpha.call(
    '/bonuses/bonus/applyBatch',
    batchBody(template, ['trickled']),
  );
  expect(answer.status).toBe(504);
});

it('refuses at once an answer larger than any honest one', async () => {
  deployment.api.misbehave('bonus', { kind: 'huge', bytes: 20_000_000 }, { calls: 1 });
  const answer = await deployment.alpha.call('/bonuses/bonus', { bonusId: bonus });
  expect([answer.status, answer.json?.code]).toEqual([502, 100]);
});

it('asks at another address from the reload on, and says who is asked', async () => {
  const file = join(deployment.gateway.configFolder, 'gateway.yaml');
  const before = await readFile(file, 'utf8');
  const moved = await startBonusApi({
    partners: [{ cid: SERVICE_CID, secrets: [SERVICE_SECRET] }],
  });
  await writeFile(file, before.replace(deployment.api.url, `${moved.url}/under/a/path/`));
  await deployment.gateway.reload();
  await deployment.alpha.call('/bonuses/template', { templateId: template });
  expect(moved.requests.map(({ path }) => path)).toEqual(['/under/a/path/bonuses/template']);
  await writeFile(file, before);
  await deployment.gateway.reload();
  const back = await deployment.alpha.call('/bonuses/template', { templateId: template });
  expect(back.status).toBe(200);
  await moved.close();
});

describe('a bonus API that keeps failing', () => {
  it('is not asked any more for a while, and costs bets and other operators nothing (I7)', async () => {
    const own = await deployment.template(deployment.beta, { name: 'Of beta' });
    deployment.api.misbehave('bonus', { kind: 'status', status: 500 });
    const statuses: number[] = [];
    for (let call = 0; call < 500 && statuses.at(-1) !== 503; call += 1) {
      statuses.push((await deployment.alpha.call('/bonuses/bonus', { bonusId: bonus })).status);
    }
    expect(statuses.at(-1)).toBe(503);
    const asked = deployment.api.requests.length;
    const refused = await deployment.alpha.call('/bonuses/template', { templateId: template });
    expect([refused.status, refused.json?.code]).toEqual([503, 100]);
    expect(deployment.api.requests.length).toBe(asked);
    // Beta has a lane of its own, and bets are not affected.
    expect((await deployment.beta.call('/bonuses/template', { templateId: own })).status).toBe(200);
    const bet = await placedBet(deployment.gateway);
    expect((await bet.settle('10')).status).toBe(200);
    deployment.api.behave();
    const back = () =>
      deployment.alpha.call('/bonuses/bonus', { bonusId: bonus }).then(({ status }) => status);
    await expect.poll(back, { timeout: 20_000, interval: 500 }).toBe(200);
  });
});
