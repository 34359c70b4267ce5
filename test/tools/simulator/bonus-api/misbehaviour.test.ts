import { describe, expect, it } from 'vitest';
import type { BonusMisbehaviour } from '../../../../tools/simulator/bonus-api/misbehaviour.ts';
import { SignedClient } from '../../../../tools/simulator/signed-client.ts';
import { CID, grant, SECRET, TEMPLATE, useBonusApi } from './support/bonus-api.ts';

const bench = useBonusApi();

const create = () => bench().call('templates/add', TEMPLATE);
const made = () => bench().api.templates.size;

/** Creates one, gets no answer while another call is answered, and gives up. */
async function createInVain() {
  const { api, call } = bench();
  const client = new SignedClient({ baseUrl: api.url, secret: SECRET, timeoutMs: 60_000 });
  const before = api.requests.length;
  const answer = client.call('POST', '/bonuses/templates/add', { cid: CID, ...TEMPLATE });
  await api.waitFor(({ requests }) => requests.length > before);
  expect((await call('templates')).status).toBe(200);
  await client.close();
  return await answer;
}

describe('an answer that does not come', () => {
  it.each([
    [{ kind: 'hang' }, 0],
    [{ kind: 'hang', effect: 'none' }, 0],
    [{ kind: 'hang', effect: 'applied' }, 1],
  ] as const)('hangs: %j', async (misbehaviour, templates) => {
    bench().api.misbehave('templates/add', misbehaviour);
    expect((await createInVain()).failure).toBe('connection');
    expect(made()).toBe(templates);
  });

  it('takes effect late, when told to', async () => {
    const { api } = bench();
    api.misbehave('templates/add', { kind: 'hang', effect: 'later' }, { calls: 1 });
    await createInVain();
    expect(made()).toBe(0);
    expect([api.applyLate(), api.applyLate()]).toEqual([1, 0]);
    expect(made()).toBe(1);
  });

  it('comes late', async () => {
    bench().api.misbehave('templates/add', { kind: 'delay', ms: 60 });
    const { ms, json } = await create();
    expect(json).toMatchObject({ id: 501 });
    expect(ms).toBeGreaterThan(50);
  });

  it('trickles, and is right in the end', async () => {
    bench().api.misbehave('templates/add', { kind: 'trickle', intervalMs: 0 }, { calls: 1 });
    expect((await create()).json).toMatchObject({ id: 501 });
    bench().api.misbehave('templates/add', { kind: 'trickle' });
    expect((await createInVain()).failure).toBe('connection');
    expect(made()).toBe(2);
  });
});

describe('an answer that is no answer', () => {
  it.each([
    ['before it takes effect', { kind: 'reset' }, 0],
    ['after it took effect', { kind: 'reset', effect: 'applied' }, 1],
    ['in the middle of the answer', { kind: 'reset', effect: 'applied', partial: true }, 1],
  ] as const)('breaks the connection %s', async (_when, misbehaviour: BonusMisbehaviour, count) => {
    bench().api.misbehave('templates/add', misbehaviour);
    expect((await create()).failure).toBe('connection');
    expect(made()).toBe(count);
  });

  it.each([
    [{ kind: 'status', status: 500 }, 500, '', 0],
    [{ kind: 'status', status: 502, body: 'x', effect: 'applied' }, 502, 'x', 1],
    [{ kind: 'html' }, 200, '<html><body><h1>Welcome to nginx</h1></body></html>', 0],
    [{ kind: 'empty' }, 200, '', 1],
  ] as const)('is as told: %j', async (misbehaviour: BonusMisbehaviour, status, body, count) => {
    bench().api.misbehave('templates/add', misbehaviour);
    expect(await create()).toMatchObject({ status, body });
    expect(made()).toBe(count);
  });

  it('is half of the JSON', async () => {
    bench().api.misbehave('templates/add', { kind: 'brokenJson' });
    const { status, json, body } = await create();
    expect({ status, json }).toEqual({ status: 200, json: undefined });
    expect(body).toMatch(/^\{"id":501,/);
    expect(made()).toBe(1);
  });

  it('says something else than it should', async () => {
    const body = (right: string) => right.replace('"id":501', '"id":null');
    bench().api.misbehave('templates/add', { kind: 'rewrite', body });
    expect((await create()).json).toMatchObject({ id: null, name: TEMPLATE.name });
  });

  it('is without end', async () => {
    bench().api.misbehave('templates/add', { kind: 'huge', bytes: 1_000_000 });
    expect((await create()).body.length).toBeGreaterThan(1_000_000);
  });
});

describe('which calls', () => {
  it('meets its method for as many calls as told, the oldest rule first', async () => {
    const { api, call } = bench();
    api.misbehave('templates/add', { kind: 'status', status: 500 }, { calls: 2 });
    const takeBack = api.misbehave('any', { kind: 'status', status: 503 });
    expect((await call('templates')).status).toBe(503);
    const statuses = [];
    for (let n = 0; n < 3; n += 1) statuses.push((await create()).status);
    expect(statuses).toEqual([500, 500, 503]);
    takeBack();
    expect((await create()).status).toBe(200);
  });

  it('does not count an unsigned call as one of them', async () => {
    const { api, client } = bench();
    api.misbehave('any', { kind: 'status', status: 500 }, { calls: 1 });
    const unsigned = await client.call('POST', '/bonuses/templates', '{}', { signWith: null });
    expect([unsigned.status, (await create()).status]).toEqual([401, 500]);
  });
});

describe('gates', () => {
  it('hold calls before they take effect, until they are released', async () => {
    const { api, call } = bench();
    const { id } = api.createTemplate(CID);
    const gate = api.hold('bonus/applyBatch');
    const body = { templateId: id, playersData: [grant('6')] };
    const both = [call('bonus/applyBatch', body), call('bonus/applyBatch', body)];
    await gate.arrivedTimes(2);
    expect([gate.held, api.bonuses.length]).toEqual([2, 0]);
    expect((await call('template', { templateId: id })).status).toBe(200);
    gate.release();
    const errors = (await Promise.all(both)).map(({ json }) => json?.errorItems);
    expect(errors).toContainEqual([]);
    expect(errors).toContainEqual([expect.objectContaining({ userId: '6', code: 34 })]);
  });

  it('hold calls that took effect, and only their answers are missing', async () => {
    const { api } = bench();
    const gate = api.hold('templates/add', { point: 'after' });
    const answer = create();
    await gate.arrived;
    expect(made()).toBe(1);
    gate.release();
    expect((await answer).status).toBe(200);
    expect((await create()).status).toBe(200);
  });

  it('let a test wait for what comes', async () => {
    const { api } = bench();
    const waiting = api.waitFor(({ templates }) => templates.size === 2);
    await create();
    api.createTemplate(CID);
    await waiting;
    expect(api.requests).toHaveLength(1);
  });
});
