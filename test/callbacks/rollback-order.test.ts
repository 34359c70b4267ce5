import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { acceptedBet } from '../money-safety/support/bets.ts';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
let replica: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { delivery: { minBackoffMs: 60_000 }, deadline: { totalMs: TOTAL_MS } },
  });
  replica = await gateway.replica();
});
// A failed test must leave nothing behind for the next one.
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

describe('a rollback and its twin', () => {
  it('at the same time are one call with one answer (I5)', async () => {
    const bet = await acceptedBet(gateway);
    const answers = await Promise.all([bet.rollback(), bet.rollback(), bet.rollback()]);
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(await bet.deliveries()).toEqual([]);
  });

  it('at another replica are one call with one answer (I5)', async () => {
    const bet = await acceptedBet(gateway);
    const there = bet.at(replica);
    const gate = bet.wallet.hold('rollback', { transactionId: bet.transactionId });
    const first = bet.rollback();
    await gate.arrived;
    const twin = there.rollback();
    await there.isWaitedFor();
    gate.release();
    expect((await twin).body).toBe((await first).body);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });

  it('of a bet unknown here are one call, whoever writes the tombstone first (I5, I6)', async () => {
    const bet = await unplacedBet(gateway);
    const answers = await Promise.all([bet.rollback(), bet.at(replica).rollback()]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(bet.arrivals()).toEqual(['rollback']);
  });

  it('is answered by the promise when the first outlasts it (I1)', async () => {
    const bet = await acceptedBet(gateway);
    bet.wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: 1 });
    const first = await bet.rollback();
    await bet.leaveBusy('rollback');
    const twin = await bet.rollback();
    expect([twin.status, twin.body]).toEqual([200, first.body]);
    expect(await bet.deliveries()).toHaveLength(1);
  });
});

describe('a rollback while another operation of its bet is in flight', () => {
  it('waits for the place and goes after it (I6)', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId });
    const place = bet.place();
    await gate.arrived;
    const rollback = bet.rollback();
    await bet.isWaitedFor();
    expect(bet.arrivals()).toEqual(['place']);
    gate.release();
    expect([(await place).status, (await rollback).status]).toEqual([200, 200]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });

  it('waits for a place at another replica and goes after it (I6)', async () => {
    const bet = await unplacedBet(gateway);
    const there = bet.at(replica);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId });
    const place = bet.place();
    await gate.arrived;
    const rollback = there.rollback();
    await there.isWaitedFor();
    gate.release();
    expect([(await place).status, (await rollback).status]).toEqual([200, 200]);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });

  it('waits for a settle and takes it back', async () => {
    const bet = await acceptedBet(gateway);
    const gate = bet.wallet.hold('settle', { transactionId: bet.transactionId });
    const settle = bet.settle('10');
    await gate.arrived;
    const rollback = bet.rollback();
    await bet.isWaitedFor();
    gate.release();
    expect([(await settle).status, (await rollback).status]).toEqual([200, 200]);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });

  it.each(['place', 'settle'] as const)(
    'is taken over when a %s stays in flight beyond its deadline (I1, I4, I6)',
    async (busy) => {
      const bet = await acceptedBet(gateway);
      await bet.leaveBusy(busy);
      const answer = await bet.rollback();
      expect(answer.status).toBe(200);
      expect(answer.json?.transactionId).toBe(bet.transactionId);
      expect(bet.arrivals()).toEqual(['place']);
      expect(await bet.deliveries()).toEqual([
        { operation: 'rollback', state: 'pending', attempts: 0 },
      ]);
      expect((await bet.rollback()).body).toBe(answer.body);
    },
  );

  it('promised meanwhile fences the bet although its place is still in flight', async () => {
    const bet = await acceptedBet(gateway);
    await bet.leaveBusy('place');
    // The service repeats what a busy machine did not promise in time.
    await expect.poll(async () => (await bet.rollback()).status).toBe(200);
    expect((await bet.place()).json?.code).toBe(8);
    expect((await bet.settle('10')).json?.code).toBe(5);
  });

  it('marks what a killed process left as unknown once its lease is over, and is sent (I4)', async () => {
    const bet = await acceptedBet(gateway);
    await bet.leaveBusy('place', 'lapsed');
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });
});

describe('a rollback of a place whose outcome is unknown', () => {
  it('is sent, and the refund is the wallet’s business', async () => {
    const bet = await unplacedBet(gateway);
    bet.wallet.misbehave('place', { kind: 'reset', effect: 'applied' }, { calls: 1 });
    expect((await bet.place()).json?.code).toBe(100);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });
});
