import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startBonusApi } from '../../../tools/simulator/bonus-api/bonus-api.ts';
import { createService, type SimulatedService } from '../../../tools/simulator/service.ts';
import { type SimulatedWallet, startWallet } from '../../../tools/simulator/wallet/wallet.ts';

// A wallet speaks the same protocol as the gateway, so here the service talks to one directly.
const SECRET = 'shared-secret';
const TOKEN = 'ann-usd-token';
const ann = { token: TOKEN, userId: 'ann', currency: 'USD' };
const bet = (amount = '12.10') => ({ ...ann, amount });

let wallet: SimulatedWallet;
let service: SimulatedService;

beforeEach(async () => {
  const players = [{ user: 'ann', balances: { USD: '100' }, tokens: { [TOKEN]: 'USD' } }];
  wallet = await startWallet({ name: 'alpha', secret: SECRET, players });
  const { baseUrl } = wallet;
  service = createService({ baseUrl, secret: SECRET, timeoutMs: 600, retryScale: 0 });
});

afterEach(async () => {
  await service.close();
  await wallet.close();
});

const dollars = () => wallet.balance('ann', 'USD');
const believed = (transactionId: string) =>
  service.books().bets.find((one) => one.transactionId === transactionId);

describe('reads', () => {
  it('learns the player from the profile', async () => {
    expect((await service.profile(TOKEN)).player).toEqual(ann);
    const unknown = await service.profile('nobody-at-all');
    expect([unknown.status, unknown.player]).toEqual([400, undefined]);
  });

  it('reads the balance without rounding (I9)', async () => {
    wallet.deposit('ann', 'USD', '9007199254740893.25');
    expect((await service.balance(ann)).amount).toBe('9007199254740993.25');
    wallet.misbehave('balance', { kind: 'html' });
    expect((await service.balance(ann)).amount).toBeUndefined();
  });
});

describe('place', () => {
  it('books what was accepted', async () => {
    const outcome = await service.place(bet());
    expect(outcome.kind).toBe('accepted');
    expect(service.books().accounts).toEqual([{ userId: 'ann', currency: 'USD', net: '-12.1' }]);
  });

  it('believes a decline and sends no rollback', async () => {
    const outcome = await service.place(bet('100.01'));
    expect(outcome).toMatchObject({ kind: 'declined', code: 7 });
    await service.idle();
    expect(wallet.arrivals(outcome.transactionId, 'rollback')).toEqual([]);
    expect(believed(outcome.transactionId)).toMatchObject({ state: 'declined', doubt: undefined });
  });

  it.each([
    ['no answer', { kind: 'hang', effect: 'applied' }, 10],
    ['a broken connection', { kind: 'reset', effect: 'applied' }, 10],
    ['code 100', { kind: 'code', code: 100 }, 52],
    ['400 without a code', { kind: 'codeMissing' }, 52],
    ['another status', { kind: 'status', status: 401 }, 52],
    ['200 with an odd time', { kind: 'badTransactionTime' }, 52],
    ['200 about another bet', { kind: 'wrongTransactionId' }, 52],
  ] as const)('rolls back after %s', async (_what, misbehaviour, errorCode) => {
    wallet.misbehave('place', misbehaviour);
    const outcome = await service.place(bet());
    if (outcome.kind !== 'failed') throw new Error(`the place bet was ${outcome.kind}`);
    expect(await outcome.rollback).toMatchObject({ kind: 'confirmed', sends: 1 });
    const sent: unknown = JSON.parse(wallet.requests.at(-1)?.body.toString() ?? '');
    expect(sent).toMatchObject({ type: 3, errorCode });
    expect(dollars()).toBe('100');
    expect(believed(outcome.transactionId)).toMatchObject({ state: 'rolled_back' });
  });

  it('never repeats a bet of its own', async () => {
    const { transactionId } = await service.place(bet());
    await expect(service.place({ ...bet(), transactionId })).rejects.toThrow('placed before');
  });
});

describe('results', () => {
  it('settles, corrects and undoes, and believes what was confirmed', async () => {
    const { transactionId } = await service.place(bet('10'));
    await service.settle(transactionId, { amount: '14.54', resultType: 'won' });
    expect(believed(transactionId)).toMatchObject({ state: 'settled', paid: '14.54' });
    await service.settle(transactionId, { amount: '10', resultType: 'refund' });
    expect(dollars()).toBe('100');
    await service.unsettle(transactionId);
    expect(believed(transactionId)).toMatchObject({ state: 'accepted', paid: '0' });
    expect(dollars()).toBe('90');
    await service.settle(transactionId, { amount: '8', resultType: 'cashout' });
    expect(dollars()).toBe('98');
    expect(service.books().accounts[0]?.net).toBe('-2');
  });

  it('repeats a settle until it is answered, each with a requestId of its own', async () => {
    const { transactionId } = await service.place(bet('10'));
    wallet.misbehave('settle', { kind: 'hang', effect: 'applied' }, { calls: 1 });
    wallet.misbehave('settle', { kind: 'status', status: 503 }, { calls: 2 });
    const outcome = await service.settle(transactionId, { amount: '15', resultType: 'won' });
    expect(outcome).toMatchObject({ kind: 'confirmed', sends: 4 });
    const arrivals = wallet.arrivals(transactionId, 'settle');
    expect(new Set(arrivals.map(({ requestId }) => requestId)).size).toBe(4);
    expect(dollars()).toBe('105');
  });

  it('keeps the earlier result when a correction is refused', async () => {
    const { transactionId } = await service.place(bet('10'));
    await service.settle(transactionId, { amount: '15', resultType: 'won' });
    wallet.misbehave('settle', { kind: 'code', code: 20 });
    const outcome = await service.settle(transactionId, { amount: '0', resultType: 'lost' });
    expect(outcome).toMatchObject({ kind: 'refused', code: 20, sends: 1 });
    expect(believed(transactionId)).toMatchObject({ paid: '15', doubt: undefined });
  });

  it('is in doubt when every repeat stays without an answer', async () => {
    const { transactionId } = await service.place(bet('10'));
    wallet.misbehave('settle', { kind: 'status', status: 500 });
    const outcome = await service.settle(transactionId, { amount: '15', resultType: 'won' });
    expect(outcome).toMatchObject({ kind: 'unanswered', sends: 11 });
    expect(believed(transactionId)).toMatchObject({ state: 'accepted', doubt: 'settle' });
  });
});

describe('rollback and update', () => {
  it('takes 400 with code 8 as done', async () => {
    const { transactionId } = await service.place(bet());
    wallet.misbehave('rollback', { kind: 'code', code: 8, effect: 'applied' });
    expect(await service.rollback(transactionId)).toMatchObject({ kind: 'confirmed', sends: 1 });
    expect(believed(transactionId)).toMatchObject({ state: 'rolled_back', doubt: undefined });
  });

  it('does not take 200 without the right body as done', async () => {
    const { transactionId } = await service.place(bet());
    wallet.misbehave('rollback', { kind: 'empty' }, { calls: 3 });
    expect(await service.rollback(transactionId)).toMatchObject({ kind: 'confirmed', sends: 4 });
    expect(dollars()).toBe('100');
  });

  it('is in doubt about a rollback that is refused', async () => {
    const { transactionId } = await service.place(bet());
    wallet.misbehave('rollback', { kind: 'code', code: 5 });
    expect(await service.rollback(transactionId)).toMatchObject({ kind: 'refused', sends: 1 });
    expect(believed(transactionId)).toMatchObject({ state: 'rolling_back', doubt: 'rollback' });
  });

  it('can roll back a bet before it is placed, and stands by that', async () => {
    const { transactionId } = service.slip(bet());
    await service.rollback(transactionId, 8);
    expect(await service.place({ ...bet(), transactionId })).toMatchObject({ code: 8 });
    expect(believed(transactionId)).toMatchObject({ state: 'rolled_back' });
  });

  it('sends changed odds everywhere they stand', async () => {
    const { transactionId } = await service.place(bet());
    expect(await service.update(transactionId, '1.35')).toMatchObject({ kind: 'confirmed' });
    const odds = { coefficient: '1.35', boosterCoefficient: '1', outcomes: ['1.35'] };
    expect(wallet.bets.get(transactionId)?.coefficients).toEqual(odds);
    expect(believed(transactionId)).toMatchObject({ coefficient: '1.35' });
  });

  it('stops repeating when it is closed', async () => {
    const patient = createService({ baseUrl: wallet.baseUrl, secret: SECRET });
    const { transactionId } = await patient.place(bet());
    wallet.misbehave('rollback', { kind: 'status', status: 500 });
    const rollback = patient.rollback(transactionId);
    await wallet.waitFor(({ requests }) => requests.length >= 2);
    await patient.close();
    expect(await rollback).toMatchObject({ kind: 'unanswered' });
  });
});

it('uses up a bonus with every accepted bet, and with no other', async () => {
  const bonusApi = await startBonusApi({ partners: [] });
  const { id: bonusTemplateId } = bonusApi.createTemplate('aggregator');
  const { id: bonusId } = bonusApi.issueBonus(bonusTemplateId, { userId: 'ann', betCount: 2 });
  const { baseUrl } = wallet;
  const promoting = createService({ baseUrl, secret: SECRET, retryScale: 0, bonusApi });
  const freebet = (amount: string) => ({ ...bet(amount), bonusId, bonusTemplateId });
  await promoting.place(freebet('5000'));
  expect(bonusApi.bonus(bonusId)?.availableBetCount).toBe(2);
  await promoting.place(freebet('5.00'));
  expect(bonusApi.bonus(bonusId)?.availableBetCount).toBe(1);
  const sent = wallet.requests.at(-1)?.body.toString();
  expect(sent).toContain(`"bonusId":${bonusId},"bonusTemplateId":${bonusTemplateId}`);
  expect(sent).toContain('"bonusAmount":5.00');
  await promoting.close();
  await bonusApi.close();
});

it('sends anything raw, signed as told', async () => {
  const body = `{"token":"${TOKEN}", "requestId":"${randomUUID()}"}`;
  expect((await service.call('POST', '/user/profile', body)).status).toBe(200);
  const unsigned = await service.call('POST', '/user/profile', body, { signWith: null });
  expect(unsigned.json).toMatchObject({ code: 1 });
  expect(wallet.requests[0]?.body.toString()).toBe(body);
});
