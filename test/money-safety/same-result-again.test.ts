import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet, untilDeliveriesAre } from './support/bets.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: {
      alpha: {
        settle: { onFailure: 'queue' },
        // It treats every requestId as an operation of its own, so another one is paid again.
        wallet: { ...PATIENT.wallet, dialect: { stableRequestId: true } },
      },
    },
  });
});
afterEach(() => {
  gateway.wallet('alpha').behave();
  mayCall(true);
});
afterAll(() => gateway.close());

function mayCall(isOpen: boolean): void {
  gateway.parts.wallets.setOverride('alpha', 'money', isOpen ? 'auto' : 'open');
}

/** The wallet has received the settle of 20; the unsettle after it waits, and was never attempted. */
async function withUnattemptedUnsettle(then?: Misbehaviour): Promise<TestBet> {
  const bet = await acceptedBet(gateway);
  const { wallet, transactionId } = bet;
  const executed = { kind: 'status', status: 500, effect: 'applied' } as const;
  const stopFailing = wallet.misbehave('settle', executed, { transactionId });
  expect((await bet.settle('20')).status).toBe(200);
  expect((await bet.settle('50')).status).toBe(200);
  stopFailing();
  if (then !== undefined) wallet.misbehave('settle', then, { transactionId });
  const gate = wallet.hold('settle', { transactionId });
  await gate.arrived;
  mayCall(false);
  gate.release();
  const first = then === undefined ? 'delivered' : 'dead';
  await untilDeliveriesAre(bet, [{ state: first }, { state: 'pending', attempts: 0 }]);
  expect((await bet.unsettle()).status).toBe(200);
  await untilDeliveriesAre(bet, [
    { state: first },
    { state: 'superseded' },
    { operation: 'unsettle', state: 'pending', attempts: 0 },
  ]);
  wallet.behave();
  return bet;
}

const requestIds = (bet: TestBet) =>
  new Set(bet.wallet.arrivals(bet.transactionId, 'settle').map(({ requestId }) => requestId));

describe('rule 7: the same result again while its unsettle waits unattempted (I5)', {
  timeout: 60_000,
}, () => {
  it('the wallet already holds it: the unsettle is cancelled, and nothing is sent', async () => {
    const bet = await withUnattemptedUnsettle();
    const before = bet.arrivals().length;
    expect((await bet.settle('20')).status).toBe(200);
    mayCall(true);
    expect(await bet.deliveries()).toMatchObject([
      { state: 'delivered' },
      { state: 'superseded' },
      { operation: 'unsettle', state: 'superseded' },
    ]);
    // The wallet's next call is the next thing that happens.
    expect((await bet.settle('70')).status).toBe(200);
    expect(bet.arrivals().slice(before)).toEqual(['settle']);
    expect(bet.balance()).toBe('970');
  });

  it('it may hold it: what is sent carries the requestId that it has seen', async () => {
    const bet = await withUnattemptedUnsettle({ kind: 'code', code: 20 });
    expect(requestIds(bet).size).toBe(1);
    expect((await bet.settle('20')).status).toBe(200);
    mayCall(true);
    await untilDeliveriesAre(bet, [
      { state: 'dead' },
      { state: 'superseded' },
      { operation: 'unsettle', state: 'superseded' },
      { operation: 'settle', state: 'delivered' },
    ]);
    expect(bet.balance()).toBe('920');
  });

  it('another result goes out under its own requestId', async () => {
    const bet = await withUnattemptedUnsettle();
    expect((await bet.settle('30')).status).toBe(200);
    mayCall(true);
    await untilDeliveriesAre(bet, [{}, {}, {}, { operation: 'settle', state: 'delivered' }]);
    expect(requestIds(bet).size).toBe(2);
    expect(bet.balance()).toBe('930');
  });
});
