import type { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { insertDelivery } from '../support/deliveries.ts';
import { startAdmin, type TestAdmin } from './support/admin.ts';

let admin: TestAdmin;
let client: Client;
let sinceId: string;

beforeAll(async () => {
  admin = await startAdmin();
  ({ client } = admin);
});
afterAll(() => admin.close());
beforeEach(async () => {
  await client.query('TRUNCATE deliveries');
  const { rows } = await client.query('SELECT coalesce(max(id), 0)::text AS id FROM audit');
  sinceId = rows[0].id;
});

/** The audit entries since the test began, oldest first. */
async function audited() {
  const { json } = await admin.get('/admin/audit');
  return json.items.filter(({ id }: { id: string }) => BigInt(id) > BigInt(sinceId)).reverse();
}

const BY_TOKEN = { actor: 'token', role: 'admin', address: '127.0.0.1' };

describe('a change by a person (I12)', () => {
  it('is on record: a retry, with how the delivery stood and why', async () => {
    const id = await insertDelivery(client, { state: 'dead', attempts: 7 });
    await admin.post(`/admin/deliveries/${id}/retry`, { reason: 'OPS-17' });
    expect(await audited()).toMatchObject([
      {
        ...BY_TOKEN,
        action: 'delivery.retry',
        subject: `delivery ${id}`,
        operator: 'alpha',
        before: { state: 'dead', attempts: 7 },
        after: { state: 'pending' },
        reason: 'OPS-17',
      },
    ]);
  });

  it('is one row for each delivery of a filter that was retried', async () => {
    const ids = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push(await insertDelivery(client, { state: 'dead' }));
    }
    await insertDelivery(client);
    const body = { operator: 'alpha', state: 'dead', reason: 'all of them' };
    expect((await admin.post('/admin/deliveries/retry', body)).json.retried).toBe(3);
    const rows = await audited();
    expect(rows.map(({ subject }) => subject).sort()).toEqual(
      ids.map((id) => `delivery ${id}`).sort(),
    );
  });

  it('is not on record where nothing changed', async () => {
    const id = await insertDelivery(client, { state: 'delivered' });
    expect((await admin.post(`/admin/deliveries/${id}/retry`)).status).toBe(409);
    expect(
      (await admin.post(`/admin/deliveries/${id}/resolve`, { by: 'a', reason: 'b' })).status,
    ).toBe(409);
    expect((await admin.post('/admin/operators/alpha/deliveries/resume')).status).toBe(409);
    expect(await audited()).toEqual([]);
  });

  it('does not take place where it cannot be on record', async () => {
    const id = await insertDelivery(client, { state: 'dead' });
    await client.query('ALTER TABLE audit RENAME TO audit_away');
    try {
      expect((await admin.post(`/admin/deliveries/${id}/retry`)).status).toBe(500);
      const breaker = { class: 'money', state: 'open' };
      expect((await admin.post('/admin/operators/alpha/breaker', breaker)).status).toBe(500);
      expect((await admin.post('/admin/operators/alpha/deliveries/hold')).status).toBe(500);
    } finally {
      await client.query('ALTER TABLE audit_away RENAME TO audit');
    }
    const { rows } = await client.query('SELECT state FROM deliveries');
    expect(rows).toEqual([{ state: 'dead' }]);
    expect((await client.query('SELECT * FROM breaker_overrides')).rows).toEqual([]);
    expect((await admin.get('/admin/operators')).json.items[0]?.hold).toBeNull();
  });

  it('is on record: resolve, release, breaker, hold, resume, reload', async () => {
    const id = await insertDelivery(client, { state: 'dead' });
    const resolve = { by: 'Ann, OPS-17', reason: 'credited by hand' };
    await admin.post(`/admin/deliveries/${id}/resolve`, resolve);
    await admin.post('/admin/operators/alpha/release', { generation: 3 });
    await admin.post('/admin/operators/alpha/breaker', { class: 'read', state: 'open' });
    await admin.post('/admin/operators/alpha/breaker', { class: 'read', state: 'auto' });
    await admin.post('/admin/operators/alpha/deliveries/hold', { reason: 'backup' });
    await admin.post('/admin/operators/alpha/deliveries/resume');
    await admin.post('/admin/reload', { reason: 'looked' });
    const short = (await audited()).map(
      (row: Record<string, unknown>) => [row.action, row.subject, row.before, row.after] as const,
    );
    expect(short).toEqual([
      [
        'delivery.resolve',
        `delivery ${id}`,
        { state: 'dead' },
        { state: 'resolved', by: 'Ann, OPS-17' },
      ],
      ['deliveries.release', 'operator alpha', { released: 0, to: 0 }, { released: 3, to: 1 }],
      ['breaker.set', 'breaker alpha read', { state: 'auto' }, { state: 'open' }],
      ['breaker.set', 'breaker alpha read', { state: 'open' }, { state: 'auto' }],
      ['deliveries.hold', 'operator alpha', { held: false }, { held: true }],
      [
        'deliveries.resume',
        'operator alpha',
        expect.objectContaining({ by: 'token' }),
        { held: false },
      ],
      [
        'configuration.reload',
        expect.stringMatching(/^configuration of /),
        null,
        expect.objectContaining({ result: 'ok' }),
      ],
    ]);
  });
});

describe('a change of the configuration', () => {
  it('is on record with its difference, and no secret (I12)', async () => {
    const secret = 'another-wallet-secret-of-alpha';
    await admin.gateway.reconfigure('alpha', { wallet: { timeoutMs: 3999, secrets: [secret] } });
    await expect.poll(audited).toHaveLength(1);
    const [row] = await audited();
    expect(row).toMatchObject({ actor: 'configuration', action: 'configuration.reload' });
    expect(row?.after).toHaveProperty('changes.operators', [
      {
        id: 'alpha',
        kind: 'changed',
        settings: expect.arrayContaining([
          { path: 'wallet.timeoutMs', before: '4000', after: '3999' },
          { path: 'wallet.secrets', secret: true },
        ]),
      },
    ]);
    expect(JSON.stringify(row)).not.toContain(secret);
  });

  it.each([
    ['U+0000', 'Al\0pha'],
    ['half a character', 'Alpha \ud83d'],
  ])(
    'is recorded even if a setting contains what PostgreSQL cannot store: %s (I12)',
    async (_, name) => {
      await admin.gateway.reconfigure('alpha', { name });
      await expect.poll(audited).toHaveLength(1);
      const after = JSON.stringify((await audited())[0]?.after);
      expect(after).toContain(`"after":"${name.slice(0, 2)}`);
    },
  );
});

describe('GET /admin/audit', () => {
  it.each([
    ['action=nothing', /^action: must be one of delivery\.retry, /],
    ['from=yesterday', /^from: must be a time/],
    ['from=2026-02-30', /^from: must be a time/],
    ['to=2026-06-31T00:00:00Z', /^to: must be a time/],
    ['to=0001-01-01T00:00:00%2B00:01', /^to: must be a time/],
    ['cursor=x', /^cursor: must be the nextCursor/],
    ['who=me', /^who: is not known here/],
  ])('names what is wrong with %s', async (query, message) => {
    const { status, json } = await admin.get(`/admin/audit?${query}`);
    expect(status).toBe(400);
    expect(json.message).toMatch(message);
  });

  it('is exported one row a line', async () => {
    await admin.post('/admin/reload');
    const { text, headers } = await admin.get('/admin/audit/export?action=configuration.reload');
    expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(rows[0]).toMatchObject({ actor: 'token', action: 'configuration.reload' });
  });
});

describe('a hold', () => {
  it('is shown with who, since when and why, and its deliveries as held', async () => {
    const id = await insertDelivery(client);
    const answer = await admin.post('/admin/operators/alpha/deliveries/hold', { reason: 'backup' });
    const hold = { since: expect.stringMatching(/Z$/), actor: 'token', reason: 'backup' };
    expect(answer).toMatchObject({ status: 200, json: { operator: 'alpha', hold } });
    expect((await admin.get('/admin/operators')).json.items[0]).toMatchObject({
      id: 'alpha',
      hold,
    });
    expect((await admin.get('/admin/deliveries?state=held')).json.items).toMatchObject([{ id }]);
    expect((await admin.post('/admin/operators/alpha/deliveries/hold')).status).toBe(409);
    expect((await admin.post('/admin/operators/nobody/deliveries/hold')).status).toBe(404);
    const [before] = (await admin.get('/admin/operators')).json.items;
    await admin.post('/admin/operators/alpha/deliveries/resume');
    expect((await admin.get('/admin/deliveries?state=held')).json.items).toEqual([]);
    const [resumed] = (await admin.get('/admin/audit?action=deliveries.resume')).json.items;
    const { since } = z.object({ hold: z.object({ since: z.string() }) }).parse(before).hold;
    expect(resumed).toMatchObject({ before: { held: true, since, by: 'token' } });
  });
});
