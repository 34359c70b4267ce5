import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { placedBet, type TestBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const TOTAL_MS = 2_000;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ gateway: { deadline: { totalMs: TOTAL_MS } } });
});
// A failed test must leave nothing behind for the next one.
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const OPERATIONS = ['settle', 'unsettle'] as const;
const send = (bet: TestBet, operation: (typeof OPERATIONS)[number]) =>
  operation === 'settle' ? bet.settle('10') : bet.unsettle();

describe.each(OPERATIONS)('%s of a bet that holds nothing', (operation) => {
  const conflicts = () => gateway.metric('gateway_conflicts_total');

  async function expectConflict(bet: TestBet): Promise<void> {
    const before = { conflicts: await conflicts(), arrivals: bet.arrivals() };
    const answer = await send(bet, operation);
    expect([answer.status, answer.json?.code]).toEqual([400, 5]);
    expect(bet.arrivals()).toEqual(before.arrivals);
    expect(await conflicts()).toBe(before.conflicts + 1);
  }

  it('is a conflict after its rollback: code 5, nothing sent (I10)', async () => {
    const bet = await placedBet(gateway);
    await bet.rollback();
    await expectConflict(bet);
  });

  it('is neither paid nor refused while the place is unknown: 503, nothing sent', async () => {
    const bet = await unplacedBet(gateway);
    bet.wallet.misbehave('place', { kind: 'reset', effect: 'applied' }, { calls: 1 });
    expect((await bet.place()).json?.code).toBe(100);
    const answer = await send(bet, operation);
    expect([answer.status, answer.json?.code]).toEqual([503, 100]);
    expect(bet.arrivals()).toEqual(['place']);
  });
});

describe.each(OPERATIONS)('%s while something of its bet is in flight', (operation) => {
  it('waits for the place and goes after it (I6)', async () => {
    const bet = await unplacedBet(gateway);
    const gate = bet.wallet.hold('place', { transactionId: bet.transactionId });
    const place = bet.place();
    await gate.arrived;
    const sent = send(bet, operation);
    await bet.isWaitedFor();
    expect(bet.arrivals()).toEqual(['place']);
    gate.release();
    expect((await place).status).toBe(200);
    expect((await sent).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', operation]);
  });

  it('joins its copy: one call, one answer (I5)', async () => {
    const bet = await placedBet(gateway);
    const gate = bet.wallet.hold(operation, { transactionId: bet.transactionId });
    const first = send(bet, operation);
    await gate.arrived;
    const twin = send(bet, operation);
    await bet.isWaitedFor();
    gate.release();
    expect((await twin).body).toBe((await first).body);
    expect((await twin).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', operation]);
    const labels = { operation, source: 'in_flight' };
    expect(await gateway.metric('gateway_duplicates_total', labels)).toBe(1);
  });

  it.each(['place', 'settle'] as const)(
    'is answered 503 in time when a %s stays in flight beyond its deadline (I1)',
    async (busy) => {
      const bet = await placedBet(gateway);
      await bet.leaveBusy(busy);
      const answer = await send(bet, operation);
      expect([answer.status, answer.json?.code]).toEqual([503, 100]);
      expect(bet.arrivals()).toEqual(['place']);
    },
  );
});
