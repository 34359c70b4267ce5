import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { acceptedBet } from '../money-safety/support/bets.ts';
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
});

describe('a rollback while another operation of its bet is in flight', () => {
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
});
