import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { placeBody, rollbackBody } from '../../../../src/protocol/callback-bodies.ts';
import { SignedClient } from '../../../../tools/simulator/signed-client.ts';
import { type SimulatedWallet, startWallet } from '../../../../tools/simulator/wallet/wallet.ts';

const SECRET = 'wallet-secret';
const TOKEN = 'ann-usd-token';

let wallet: SimulatedWallet;
let client: SignedClient;

beforeEach(async () => {
  const players = [{ user: 'ann', balances: { USD: '100' }, tokens: { [TOKEN]: 'USD' } }];
  wallet = await startWallet({ name: 'alpha', secret: SECRET, players });
  client = new SignedClient({ baseUrl: wallet.baseUrl, secret: SECRET });
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
const rollback = (transactionId: string) =>
  client.call('PUT', '/payment/bet', rollbackBody(slipOf(transactionId), 50));

it('holds a place bet before it is booked, so that its rollback overtakes it', async () => {
  const bet = randomUUID();
  const gate = wallet.hold('place');
  const placing = place(bet);
  await gate.arrived;
  expect((await rollback(bet)).status).toBe(200);
  gate.release();
  expect((await placing).json).toMatchObject({ code: 8 });
  expect(wallet.balance('ann', 'USD')).toBe('100');
});

it('holds a call that is booked before it is answered', async () => {
  const gate = wallet.hold('place', { point: 'after' });
  const placing = place();
  await gate.arrived;
  expect(wallet.balance('ann', 'USD')).toBe('90');
  gate.release();
  expect((await placing).status).toBe(200);
});

it('counts who stands there, and lets all go', async () => {
  const gate = wallet.hold('any');
  const placing = [place(), place(), place()];
  await gate.arrivedTimes(3);
  expect(gate.held).toBe(3);
  gate.release();
  expect((await Promise.all(placing)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(gate.held).toBe(0);
  expect((await place()).status).toBe(200);
});

it('holds only the bet it is told to', async () => {
  const bet = randomUUID();
  const gate = wallet.hold('place', { transactionId: bet });
  expect((await place()).status).toBe(200);
  const placing = place(bet);
  await gate.arrived;
  gate.release();
  expect((await placing).status).toBe(200);
});

it('books a held call although its caller gave up, as a slow wallet does', async () => {
  const hasty = new SignedClient({ baseUrl: wallet.baseUrl, secret: SECRET, timeoutMs: 50 });
  const gate = wallet.hold('place');
  const answer = await hasty.call('POST', '/payment/bet', placeBody(slipOf(randomUUID())));
  expect(answer.failure).toBe('timeout');
  gate.release();
  await wallet.waitFor((it) => it.balance('ann', 'USD') === '90');
  await hasty.close();
});
