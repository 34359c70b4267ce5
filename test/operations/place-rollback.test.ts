import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody, rollbackBody } from '../../src/protocol/callback-bodies.ts';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { rowsOf } from '../support/server.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
let replica: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { deadline: { totalMs: TOTAL_MS, reserveMs: 600 } },
    operators: { alpha: { wallet: { breaker: { minRequests: 100_000 } } } },
  });
  replica = await gateway.replica();
});
afterAll(() => gateway.close());

const stateOf = (bet: TestBet) => betState(gateway.databaseUrl, bet.transactionId);
const confirmationsLeft = async ({ transactionId }: TestBet) => {
  const text = `SELECT confirm_left FROM bets WHERE transaction_id = '${transactionId}'`;
  return (await rowsOf(gateway.databaseUrl, text))[0]?.confirm_left;
};
const placeAt = (where: TestGateway, { slip }: TestBet) =>
  where.service.call('POST', '/payment/bet', placeBody(slip));
const rollbackAt = (where: TestGateway, { slip }: TestBet) =>
  where.service.call('PUT', '/payment/bet', rollbackBody(slip, 10));
const eitherReplica: [string, () => TestGateway][] = [
  ['this replica', () => gateway],
  ['another replica', () => replica],
];

describe('a place bet after its rollback', () => {
  it.each(eitherReplica)('that came first is refused on %s, unsent (I6)', async (_, where) => {
    const bet = await unplacedBet(gateway);
    expect((await bet.rollback()).status).toBe(200);
    const answer = await placeAt(where(), bet);
    expect([answer.status, answer.json?.code]).toEqual([400, 8]);
    expect(bet.arrivals()).toEqual(['rollback']);
    expect(bet.balance()).toBe('1000');
  });

  it.each(eitherReplica)('that undid it is refused on %s (I6)', async (_, where) => {
    const bet = await placedBet(gateway);
    // Redis remembers it as well: that must not outlive the rollback.
    expect((await placeAt(where(), bet)).status).toBe(200);
    expect((await bet.rollback()).status).toBe(200);
    expect((await placeAt(where(), bet)).json).toMatchObject({ code: 8 });
    expect(bet.balance()).toBe('1000');
  });
});

describe('a rollback while the place is in flight', () => {
  it.each(eitherReplica)('waits for it on %s, then undoes it (I6)', async (_, where) => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId });
    const placing = bet.place();
    await gate.arrived;
    const undoing = rollbackAt(where(), bet);
    await bet.at(where()).isWaitedFor();
    expect(bet.arrivals()).toEqual(['place']);
    gate.release();
    expect((await placing).status).toBe(200);
    expect((await undoing).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });

  it('becomes a delivery when the place outlasts it, and both are answered in time (I1, I4)', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId, point: 'after' });
    const placing = bet.place();
    await gate.arrived;
    const [placed, undone] = await Promise.all([placing, bet.rollback()]);
    expect([placed.status, placed.json?.code]).toEqual([400, 100]);
    expect(undone.status).toBe(200);
    const { rollback } = (await stateOf(bet)) ?? {};
    const promises = await bet.deliveries();
    // If it was just in time, it is confirmed twice more, because the place may take effect late.
    expect([
      ['promised', 1, 0],
      ['confirmed', 0, 2],
    ]).toContainEqual([rollback, promises.length, await confirmationsLeft(bet)]);
    gate.release();
  });
});
