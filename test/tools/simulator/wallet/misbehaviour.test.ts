import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { placeBody, profileBody, rollbackBody } from '../../../../src/protocol/callback-bodies.ts';
import { SignedClient } from '../../../../tools/simulator/signed-client.ts';
import type { Misbehaviour } from '../../../../tools/simulator/wallet/misbehaviour.ts';
import { type SimulatedWallet, startWallet } from '../../../../tools/simulator/wallet/wallet.ts';

const SECRET = 'wallet-secret';
const TOKEN = 'ann-usd-token';

let wallet: SimulatedWallet;
let client: SignedClient;

beforeEach(async () => {
  const players = [{ user: 'ann', balances: { USD: '100' }, tokens: { [TOKEN]: 'USD' } }];
  wallet = await startWallet({ name: 'alpha', secret: SECRET, players });
  client = new SignedClient({ baseUrl: wallet.baseUrl, secret: SECRET, timeoutMs: 1_000 });
});

afterEach(async () => {
  await client.close();
  await wallet.close();
});

function slipOf(transactionId: string) {
  const ids = { transactionId, token: TOKEN, userId: 'ann', currency: 'USD' };
  return { ...ids, amount: '10', coefficient: '1.2', bonusId: null, bonusTemplateId: null };
}

const place = (transactionId: string = randomUUID()) =>
  client.call('POST', '/payment/bet', placeBody(slipOf(transactionId)));
const rollback = (transactionId: string = randomUUID()) =>
  client.call('PUT', '/payment/bet', rollbackBody(slipOf(transactionId), 50));
const profile = () => client.call('POST', '/user/profile', profileBody(TOKEN));
const dollars = () => wallet.balance('ann', 'USD');

describe('an answer that does not come', () => {
  it.each([
    ['none', '100'],
    ['applied', '90'],
  ] as const)('hangs with the effect %s', async (effect, balance) => {
    wallet.misbehave('place', { kind: 'hang', effect });
    expect((await place()).failure).toBe('timeout');
    expect(dollars()).toBe(balance);
  });

  it('debits late, when told to', async () => {
    wallet.misbehave('place', { kind: 'lateDebit' });
    const bet = randomUUID();
    expect((await place(bet)).failure).toBe('timeout');
    expect([dollars(), wallet.arrivals(bet)[0]?.result]).toEqual(['100', 'pending']);
    expect(wallet.applyLate(randomUUID())).toBe(0);
    expect(wallet.applyLate(bet)).toBe(1);
    expect([dollars(), wallet.arrivals(bet)[0]?.result]).toEqual(['90', 'applied']);
    expect(wallet.applyLate()).toBe(0);
  });

  it('refuses to debit late what was rolled back meanwhile (I6)', async () => {
    wallet.misbehave('place', { kind: 'lateDebit' });
    const bet = randomUUID();
    await place(bet);
    expect((await rollback(bet)).status).toBe(200);
    wallet.applyLate();
    expect([dollars(), wallet.arrivals(bet, 'place')[0]?.result]).toEqual(['100', 'declined']);
  });

  it('comes after a delay', async () => {
    wallet.misbehave('place', { kind: 'delay', ms: 60 });
    const answer = await place();
    expect(answer.status).toBe(200);
    expect(answer.ms).toBeGreaterThan(50);
  });

  it.each(['head', 'body'] as const)('trickles the %s beyond a limit', async (part) => {
    wallet.misbehave('place', { kind: 'trickle', part });
    expect((await place()).failure).toBe('timeout');
    expect(dollars()).toBe('90');
  });

  it.each(['head', 'body'] as const)('trickles a %s that is right in the end', async (part) => {
    wallet.misbehave('place', { kind: 'trickle', part, intervalMs: 0 });
    const patient = new SignedClient({ baseUrl: wallet.baseUrl, secret: SECRET });
    const bet = randomUUID();
    const answer = await patient.call('POST', '/payment/bet', placeBody(slipOf(bet)));
    expect(answer).toMatchObject({ status: 200, json: { transactionId: bet } });
    await patient.close();
  });
});

describe('a connection that breaks', () => {
  it.each([
    ['before anything is booked', { kind: 'reset' }, '100'],
    ['after the debit', { kind: 'reset', effect: 'applied' }, '90'],
    ['in the middle of the answer', { kind: 'reset', effect: 'applied', partial: true }, '90'],
  ] as const)('is reset %s', async (_when, misbehaviour: Misbehaviour, balance) => {
    wallet.misbehave('place', misbehaviour);
    expect((await place()).failure).toBe('connection');
    expect(dollars()).toBe(balance);
  });

  it('is refused while the wallet is down, and the books are there when it is up again', async () => {
    const { port } = wallet;
    wallet.misbehave('place', { kind: 'hang', effect: 'applied' }, { calls: 1 });
    const hanging = place();
    await wallet.waitFor(() => dollars() === '90');
    await wallet.down();
    expect((await hanging).failure).toBe('connection');
    expect((await place()).body).toContain('ECONNREFUSED');
    await wallet.up();
    expect(wallet.port).toBe(port);
    expect((await place()).status).toBe(200);
    expect(dollars()).toBe('80');
  });
});

describe('an answer that is no answer', () => {
  it('is huge', async () => {
    wallet.misbehave('place', { kind: 'huge', bytes: 1_000_000 });
    const answer = await place();
    expect(answer.status).toBe(200);
    expect(answer.body.length).toBeGreaterThan(1_000_000);
  });

  it('stops being huge when the caller goes away', async () => {
    wallet.misbehave('place', { kind: 'huge', bytes: Number.POSITIVE_INFINITY });
    expect((await place()).failure).toBe('timeout');
    expect((await rollback()).status).toBe(200);
  });

  it('redirects to an address that would answer well, to catch clients that follow', async () => {
    const forgetRule = wallet.misbehave('place', { kind: 'redirect' });
    const answer = await place();
    expect(answer).toMatchObject({
      status: 307,
      headers: { location: '/sportsbook/payment/bet?redirected' },
    });
    forgetRule();
    const followed = await client.call(
      'POST',
      '/payment/bet?redirected',
      placeBody(slipOf(randomUUID())),
    );
    expect(followed.status).toBe(200);
  });

  it.each([
    [{ kind: 'html' }, 200, '<html><body><h1>Welcome to nginx</h1></body></html>', '100'],
    [{ kind: 'empty' }, 200, '', '90'],
    [{ kind: 'status', status: 500 }, 500, '', '100'],
    [
      { kind: 'status', status: 401, body: '{"code":3}', effect: 'applied' },
      401,
      '{"code":3}',
      '90',
    ],
    [{ kind: 'codeMissing' }, 400, '{"message":"Something went wrong"}', '100'],
    [{ kind: 'code', code: 9, message: 'no' }, 400, '{"code":9,"message":"no"}', '100'],
  ] as const)('is as told: %j', async (misbehaviour: Misbehaviour, status, body, balance) => {
    wallet.misbehave('place', misbehaviour);
    expect(await place()).toMatchObject({ status, body });
    expect(dollars()).toBe(balance);
  });

  it('is about another bet, or has an odd time, but a decline stays one', async () => {
    const bet = randomUUID();
    wallet.misbehave('place', { kind: 'wrongTransactionId' }, { calls: 1 });
    wallet.misbehave('place', { kind: 'badTransactionTime' }, { calls: 1 });
    wallet.misbehave('place', { kind: 'wrongTransactionId' }, { calls: 1 });
    expect((await place(bet)).json).toMatchObject({ transactionId: `transaction_${bet}` });
    expect((await place(bet)).json).toMatchObject({
      transactionId: bet,
      transactionTime: '05/03/2021 11:08',
    });
    await rollback(bet);
    expect((await place(bet)).json).toMatchObject({ code: 8 });
  });
});

describe('which calls', () => {
  it('meets the operation it is meant for, in the order of the rules', async () => {
    wallet.misbehave('place', { kind: 'status', status: 500 }, { calls: 2 });
    wallet.misbehave('place', { kind: 'status', status: 503 }, { calls: 1 });
    expect((await profile()).status).toBe(200);
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push((await place()).status);
    expect(statuses).toEqual([500, 500, 503, 200]);
  });

  it('meets the bet it is meant for before what is meant for all', async () => {
    const bet = randomUUID();
    wallet.misbehave('any', { kind: 'status', status: 500 });
    wallet.misbehave('any', { kind: 'status', status: 503 }, { transactionId: bet });
    expect([(await place()).status, (await place(bet)).status]).toEqual([500, 503]);
    expect((await profile()).status).toBe(500);
    wallet.behave();
    expect((await profile()).status).toBe(200);
  });
});
