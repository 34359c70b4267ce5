import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { asPlayer, placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { delivery: { minBackoffMs: 60_000 }, deadline: { totalMs: TOTAL_MS } },
    operators: { alpha: {}, beta: {}, gamma: { wallet: { dialect: { updates: 'skip' } } } },
  });
});
// A failed test must leave nothing behind for the next one.
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const update = (state: string) => ({ operation: 'update', state });
const confirmation = (transactionId: string) => ({
  transactionId,
  transactionTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
});

describe('an update that the wallet answers', () => {
  it('is passed on, moves no money, and leaves nothing promised', async () => {
    const bet = await placedBet(gateway);
    const answer = await bet.update('1.5');
    expect(answer.status).toBe(200);
    const held = bet.wallet.bets.get(bet.transactionId);
    expect(answer.json?.transactionTime).toBe(held?.times.update);
    expect(held?.coefficients?.coefficient).toBe('1.5');
    expect(bet.balance()).toBe('900');
    expect(await bet.deliveries()).toEqual([]);
  });

  it('is one call when its coefficients are those of the last one, as decimals (I5)', async () => {
    const bet = await placedBet(gateway);
    const first = await bet.update('1.5');
    expect((await bet.update('1.50')).body).toBe(first.body);
    expect(bet.arrivals()).toEqual(['place', 'update']);
  });

  it('is compared with the last one only: 1.5, 1.6, 1.5 is three calls', async () => {
    const bet = await placedBet(gateway);
    for (const coefficient of ['1.5', '1.6', '1.5']) await bet.update(coefficient);
    expect(bet.arrivals()).toEqual(['place', 'update', 'update', 'update']);
    expect(bet.wallet.bets.get(bet.transactionId)?.coefficients?.coefficient).toBe('1.5');
  });

  it.each([5, 7, 8, 20])(
    'refused by code %i is answered 200 and recorded as refused',
    async (code) => {
      const bet = await placedBet(gateway);
      bet.wallet.misbehave('update', { kind: 'code', code }, { calls: 1 });
      const answer = await bet.update('1.5');
      expect([answer.status, answer.json]).toEqual([200, confirmation(bet.transactionId)]);
      expect(await bet.deliveries()).toMatchObject([update('refused')]);
    },
  );
});

describe('an update that the wallet does not answer', () => {
  const failures: readonly Misbehaviour[] = [
    { kind: 'code', code: 1 },
    { kind: 'code', code: 100 },
    { kind: 'codeMissing' },
    { kind: 'status', status: 404 },
    { kind: 'status', status: 500 },
    { kind: 'empty' },
    { kind: 'reset' },
    { kind: 'hang' },
  ];

  it.each(failures)('is accepted: 200, and a committed delivery: %o (I3, I4)', async (how) => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('update', how, { transactionId: bet.transactionId });
    const answer = await bet.update('1.5');
    expect([answer.status, answer.json]).toEqual([200, confirmation(bet.transactionId)]);
    expect(await bet.deliveries()).toMatchObject([update('pending')]);
  });

  it('never stands in the way of money (I6)', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('update', { kind: 'status', status: 500 }, { calls: 1 });
    await bet.update('1.5');
    expect((await bet.settle('10')).status).toBe(200);
    expect((await bet.unsettle()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'update', 'settle', 'unsettle']);
    expect(await bet.deliveries()).toMatchObject([update('pending')]);
  });

  it('is superseded by the bet’s rollback (I6)', async () => {
    const bet = await placedBet(gateway);
    bet.wallet.misbehave('update', { kind: 'status', status: 500 }, { calls: 1 });
    await bet.update('1.5');
    expect((await bet.rollback()).status).toBe(200);
    expect(await bet.deliveries()).toMatchObject([update('superseded')]);
  });
});

describe('an update that no wallet needs to hear of', () => {
  it('its copies are answered as it was, to the byte, before and after a rollback', async () => {
    const bet = await placedBet(gateway);
    const before = await bet.update('1.4');
    await bet.rollback();
    expect((await bet.update('1.4')).body).toBe(before.body);
    const twins = await Promise.all([bet.update('1.5'), bet.update('1.5')]);
    const [first] = twins;
    expect(twins.map(({ body }) => body)).toEqual([first.body, first.body]);
    expect((await bet.update('1.5')).body).toBe(first.body);
    expect(bet.arrivals()).toEqual(['place', 'update', 'rollback']);
  });

  it('of a wallet that takes none is answered 200, never sent (updates: skip)', async () => {
    const bet = await placedBet(gateway, { operatorId: 'gamma' });
    expect((await bet.update('1.5')).json).toEqual(confirmation(bet.transactionId));
    expect(bet.arrivals()).toEqual(['place']);
    expect(await bet.deliveries()).toEqual([]);
  });
});

describe('an update of a bet that is another’s, or not known', () => {
  it('with another player’s userId is a conflict: code 5, nothing sent (I8)', async () => {
    const bet = await placedBet(gateway);
    const answer = await bet.update('1.5', asPlayer(await gateway.player({ operatorId: 'beta' })));
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(bet.arrivals()).toEqual(['place']);
  });
});
