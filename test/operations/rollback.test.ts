import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { asPlayer, placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { delivery: { minBackoffMs: 60_000 }, deadline: { totalMs: TOTAL_MS } },
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } }, beta: {} },
  });
});
// A failed test must leave nothing behind for the next one.
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const pendingRollback = { operation: 'rollback', state: 'pending' };
const confirmation = (transactionId: string) => ({
  transactionId,
  transactionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
});

describe('a rollback that the wallet confirms', () => {
  it('refunds the stake, is passed on, and leaves nothing promised', async () => {
    const bet = await placedBet(gateway);
    const answer = await bet.rollback();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      transactionId: bet.transactionId,
      transactionTime: bet.wallet.bets.get(bet.transactionId)?.times.rollback,
    });
    expect(bet.balance()).toBe('1000');
    expect(await bet.deliveries()).toEqual([]);
  });

  it('is one call when it comes again, answered from the journal (I5)', async () => {
    const bet = await placedBet(gateway);
    const first = await bet.rollback();
    const again = await bet.rollback({ errorCode: '10' });
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });

  it('by 400 code 8 is passed on as it is, also to its repeat', async () => {
    const bet = await placedBet(gateway);
    const message = 'The bet has already been processed, \u0000 really';
    bet.wallet.misbehave('rollback', { kind: 'code', code: 8, message }, { calls: 1 });
    const answer = await bet.rollback();
    expect([answer.status, answer.json?.code]).toEqual([400, 8]);
    const again = await bet.rollback();
    expect([again.status, again.json?.code]).toEqual([400, 8]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(await bet.deliveries()).toEqual([]);
  });

  it('takes back the payout of a settled bet as well', async () => {
    const bet = await placedBet(gateway);
    await bet.settle('500');
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.balance()).toBe('1000');
  });

  it('fences the bet: a copy of its place is refused with code 8, not sent (I6)', async () => {
    const bet = await placedBet(gateway);
    await bet.rollback();
    const late = await bet.place();
    expect([late.status, late.json?.code]).toEqual([400, 8]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });
});

describe('a rollback that the wallet does not confirm', () => {
  const answers: readonly Misbehaviour[] = [
    { kind: 'code', code: 1 },
    { kind: 'code', code: 3 },
    { kind: 'code', code: 5 },
    { kind: 'code', code: 7 },
    { kind: 'code', code: 100 },
    { kind: 'codeMissing' },
    { kind: 'status', status: 404 },
    { kind: 'status', status: 400, body: '{"code":"8"}' },
    { kind: 'status', status: 500, body: '{"code":8,"message":"done"}' },
    { kind: 'html' },
    { kind: 'empty' },
    { kind: 'redirect' },
    { kind: 'wrongTransactionId' },
    { kind: 'reset' },
    { kind: 'reset', partial: true },
    { kind: 'hang' },
  ];

  it.each(answers)('is accepted: 200, and a committed delivery: %o (I3, I4)', async (how) => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', how, { transactionId: bet.transactionId });
    const answer = await bet.rollback();
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual(confirmation(bet.transactionId));
    expect(await bet.deliveries()).toMatchObject([pendingRollback]);
  });

  it('is the same promise when it comes again: one answer, one delivery, no call (I5)', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 1 });
    const first = await bet.rollback();
    expect((await bet.rollback()).body).toBe(first.body);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(await bet.deliveries()).toMatchObject([pendingRollback]);
  });

  it('becomes a delivery when the wallet is down', async () => {
    const bet = await placedBet(gateway);
    await bet.wallet.down();
    const answer = await bet.rollback();
    const promised = await bet.deliveries();
    await bet.wallet.up();
    expect([answer.status, answer.json]).toEqual([200, confirmation(bet.transactionId)]);
    expect(promised).toMatchObject([pendingRollback]);
  });

  it('fences the bet from its promise on (I6)', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 1 });
    await bet.rollback();
    expect((await bet.place()).json?.code).toBe(8);
  });
});

describe('a rollback of a bet that no wallet holds', () => {
  it('of one the wallet declined is answered 200, nothing sent', async () => {
    const bet = await unplacedBet(gateway, { amount: '5000' });
    expect((await bet.place()).json?.code).toBe(7);
    const answer = await bet.rollback();
    expect([answer.status, answer.json]).toEqual([200, confirmation(bet.transactionId)]);
    expect((await bet.rollback()).body).toBe(answer.body);
    expect(bet.arrivals()).toEqual(['place']);
    expect(await bet.deliveries()).toEqual([]);
  });

  it('of one never sent is answered 200, nothing sent, not even when the wallet is back', async () => {
    const bet = await unplacedBet(gateway);
    await bet.wallet.down();
    expect((await bet.place()).json?.code).toBe(100);
    await bet.wallet.up();
    expect((await bet.rollback()).status).toBe(200);
    expect((await bet.place()).json?.code).toBe(8);
    expect(bet.arrivals()).toEqual([]);
    expect(await bet.deliveries()).toEqual([]);
  });

  it('of one unknown here goes by userId to that player’s operator, and fences it', async () => {
    const bet = await unplacedBet(gateway, { operatorId: 'beta' });
    const answer = await bet.rollback();
    expect(answer.status).toBe(200);
    expect(bet.arrivals()).toEqual(['rollback']);
    expect(gateway.wallet('alpha').arrivals(bet.transactionId)).toEqual([]);
    const late = await bet.place();
    expect([late.status, late.json?.code]).toEqual([400, 8]);
    expect(bet.arrivals()).toEqual(['rollback']);
  });

  it('of one unknown here of a player unknown here is answered 200, and fences it (I6)', async () => {
    const bet = await unplacedBet(gateway);
    const nobody = { userId: '"nobody-here"' };
    const answer = await bet.rollback(nobody);
    expect([answer.status, answer.json]).toEqual([200, confirmation(bet.transactionId)]);
    expect((await bet.rollback(nobody)).body).toBe(answer.body);
    const late = await bet.place();
    expect([late.status, late.json?.code]).toEqual([400, 8]);
    expect(bet.arrivals()).toEqual([]);
    expect(await bet.deliveries()).toEqual([]);
  });
});

it.each(['alpha', 'beta'])(
  'a rollback with the userId of another player, of %s, is a conflict: code 5, nothing sent (I8)',
  async (operatorId) => {
    const bet = await placedBet(gateway);
    const other = await gateway.player({ operatorId });
    const answer = await bet.rollback(asPlayer(other));
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(bet.arrivals()).toEqual(['place']);
    expect(gateway.wallet('beta').arrivals(bet.transactionId)).toEqual([]);
    expect((await bet.rollback()).status).toBe(200);
  },
);
