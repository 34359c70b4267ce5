import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startAdmin, type TestAdmin } from './support/admin.ts';

let admin: TestAdmin;
let client: Client;
let bet: TestBet;
let userId: string;

beforeAll(async () => {
  admin = await startAdmin();
  ({ client } = admin);
  const player = await admin.gateway.player({ user: 'jane' });
  bet = await placedBet(admin.gateway, { player });
  ({ userId } = player);
});
afterAll(() => admin.close());

async function audited(action: string) {
  return (await admin.get(`/admin/audit?action=${action}`)).json.items;
}

describe('GET /admin/bets', () => {
  it('finds a bet by its id, its player, its operator and its state', async () => {
    const item = {
      transactionId: bet.transactionId,
      operator: 'alpha',
      operatorUser: 'jane',
      userId,
      state: 'accepted',
      amount: '100',
      currency: 'USD',
    };
    for (const query of [
      `transactionId=${bet.transactionId}`,
      `userId=${userId}`,
      'operatorUser=jane',
      'operator=alpha&state=accepted',
      'from=2026-01-01&to=2100-01-01T00:00:00Z',
    ]) {
      const { json } = await admin.get(`/admin/bets?${query}`);
      expect(json, query).toMatchObject({ items: [item], nextCursor: null });
    }
    expect((await admin.get('/admin/bets?state=declined')).json.items).toEqual([]);
  });

  it.each([
    ['state=won', /^state: must be one of /],
    ['from=soon', /^from: must be a time/],
    ['from=0000-12-31', /^from: must be a time/],
    ['cursor=x', /^cursor: must be the nextCursor/],
    ['userId=%00', /^userId: holds a forbidden character/],
    ['bet=1', /^bet: is not known here/],
  ])('names what is wrong with %s', async (query, message) => {
    const { status, json } = await admin.get(`/admin/bets?${query}`);
    expect(status).toBe(400);
    expect(json.message).toMatch(message);
  });
});

describe('a player', () => {
  it('is found by either id', async () => {
    const item = { userId, operator: 'alpha', operatorUser: 'jane' };
    expect((await admin.get(`/admin/players?userId=${userId}`)).json.items).toMatchObject([item]);
    const byUser = await admin.get('/admin/players?operator=alpha&operatorUser=jane');
    expect(byUser.json.items).toMatchObject([item]);
    expect((await admin.get('/admin/players?operator=beta&operatorUser=jane')).json.items).toEqual(
      [],
    );
    for (const others of [
      'operator=beta',
      'operatorUser=joan',
      'operator=beta&operatorUser=jane',
    ]) {
      const both = await admin.get(`/admin/players?userId=${userId}&${others}`);
      expect(both, others).toMatchObject({ status: 200, json: { items: [] } });
    }
    const same = `userId=${userId}&operator=alpha&operatorUser=jane`;
    expect((await admin.get(`/admin/players?${same}`)).json.items).toMatchObject([item]);
    expect((await admin.get('/admin/players')).status).toBe(400);
    expect((await admin.get('/admin/players/nobody')).status).toBe(404);
  });

  it('is shown with sessions and exact totals, and every look is recorded (I12)', async () => {
    const { json } = await admin.get(`/admin/players/${userId}`);
    expect(json).toMatchObject({
      userId,
      sessions: [{ currency: 'USD', endedAt: null }],
      totals: [{ currency: 'USD', bets: 1, open: 1, stakes: '100', payouts: '0' }],
    });
    expect(await audited('player.viewed')).toMatchObject([
      { actor: 'token', subject: `player ${userId}`, operator: 'alpha' },
    ]);
  });

  it('is recorded when a bet is looked at as well, once in some minutes (I12)', async () => {
    const before = (await audited('player.viewed')).length;
    const other = await placedBet(admin.gateway);
    await admin.get(`/admin/bets/${other.transactionId}`);
    await admin.get(`/admin/bets/${other.transactionId}`);
    expect(await audited('player.viewed')).toHaveLength(before + 1);
  });

  it('is exported with every bet, and that is on record (I12)', async () => {
    const { text, status } = await admin.post(`/admin/players/${userId}/export`, {
      reason: 'DSR 1',
    });
    expect(status).toBe(200);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { player: { userId } },
      { bet: { transactionId: bet.transactionId, operations: [{ operation: 'place' }] } },
    ]);
    expect(text).not.toContain(bet.player.token);
    expect(text).not.toContain(bet.player.operatorToken);
    expect(await audited('player.exported')).toMatchObject([{ reason: 'DSR 1' }]);
    expect((await admin.post('/admin/players/nobody/export')).status).toBe(404);
  });

  it('is not forgotten while a bet is open, and nothing is changed then', async () => {
    const before = await client.query('SELECT body FROM operations ORDER BY id');
    const { status, json } = await admin.post(`/admin/players/${userId}/forget`, { reason: 'x' });
    expect(status).toBe(409);
    expect(json.message).toContain(bet.transactionId);
    expect((await client.query('SELECT body FROM operations ORDER BY id')).rows).toEqual(
      before.rows,
    );
    expect(await audited('player.forgotten')).toEqual([]);
  });

  it('is forgotten: free text goes, money and answers to repeats stay (I5, I9, I12)', async () => {
    await bet.settle('24.50', 'won', undefined, { note: '"for Jane Doe"' });
    await client.query(
      `UPDATE attempts SET error = '400 code 5: Jane Doe', result = 'declined'
        WHERE operation_id = (SELECT max(id) FROM operations WHERE transaction_id = $1)`,
      [bet.transactionId],
    );
    const balance = bet.balance();
    const forgotten = await admin.post(`/admin/players/${userId}/forget`, { reason: 'DSR 2' });
    expect(forgotten).toMatchObject({ status: 200, json: { bets: 1, messages: 2, attempts: 2 } });
    const { rows } = await client.query(
      `SELECT convert_from(o.body, 'UTF8') AS body, a.error, a.wallet_body
         FROM operations o JOIN attempts a ON a.operation_id = o.id
        WHERE o.transaction_id = $1 ORDER BY o.id`,
      [bet.transactionId],
    );
    expect(rows[1]).toMatchObject({ error: '400 code 5', wallet_body: null });
    expect(rows[1].body).toContain('"amount":24.50');
    expect(JSON.stringify(rows)).not.toContain('Jane');
    expect((await admin.get(`/admin/bets/${bet.transactionId}`)).json).toMatchObject({
      state: 'settled',
      amount: '100',
      settlement: { amount: '24.50' },
    });
    expect(await audited('player.forgotten')).toMatchObject([
      { subject: `player ${userId}`, reason: 'DSR 2', after: { bets: 1, messages: 2 } },
    ]);
    // Repeats are answered as before, and reach no wallet.
    const arrivals = bet.arrivals().length;
    expect((await bet.settle('24.50')).status).toBe(200);
    expect((await bet.place()).status).toBe(200);
    expect(bet.arrivals()).toHaveLength(arrivals);
    expect(bet.balance()).toBe(balance);
  });

  it('has its sessions revoked by a person, on record (I12)', async () => {
    const path = `/admin/players/${userId}/sessions/revoke`;
    expect((await admin.post(path, { reason: 'stolen phone' })).json).toEqual({ revoked: 1 });
    expect((await admin.post(path)).json).toEqual({ revoked: 0 });
    const again = await admin.gateway.service.balance(bet.player);
    expect(again.status).toBe(400);
    expect(await audited('sessions.revoke')).toMatchObject([
      { subject: `player ${userId}`, after: { sessions: 1 }, reason: 'stolen phone' },
    ]);
  });
});
