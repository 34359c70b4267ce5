import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { sql } from '../deliveries/support/deliveries.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet, settlesOf, untilDeliveriesAre } from './support/bets.ts';
import { PATIENT, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: {
      alpha: { settle: { onFailure: 'queue' }, ...PATIENT },
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

/** A bet whose wallet has received the settle of 20, but never the settle of 50 that was promised after it. */
async function withUnattemptedSettle(first: Misbehaviour, then?: Misbehaviour): Promise<TestBet> {
  const bet = await acceptedBet(gateway);
  const { wallet, transactionId } = bet;
  const stopFailing = wallet.misbehave('settle', first, { transactionId });
  expect((await bet.settle('20')).status).toBe(200);
  expect((await bet.settle('50')).status).toBe(200);
  stopFailing();
  if (then !== undefined) wallet.misbehave('settle', then, { transactionId });
  const gate = wallet.hold('settle', { transactionId });
  await gate.arrived;
  // The held call ends, and nothing follows it.
  mayCall(false);
  gate.release();
  return bet;
}

/** The journal loses a bet that its wallet still holds. */
async function forget({ transactionId }: TestBet): Promise<void> {
  await sql(
    gateway,
    `DELETE FROM attempts
      WHERE operation_id IN (SELECT id FROM operations WHERE transaction_id = $1)`,
    [transactionId],
  );
  await sql(gateway, 'DELETE FROM operations WHERE transaction_id = $1', [transactionId]);
  await sql(gateway, 'DELETE FROM bets WHERE transaction_id = $1', [transactionId]);
}

describe('rule 2: an unsettle undoes what a wallet may hold (I5)', { timeout: 60_000 }, () => {
  it('it is delivered if an earlier settle was delivered, and cancels the one behind it', async () => {
    const bet = await withUnattemptedSettle({ kind: 'status', status: 500 });
    await untilDeliveriesAre(bet, [{ state: 'delivered' }, { state: 'pending', attempts: 0 }]);
    expect(bet.balance()).toBe('920');
    expect((await bet.unsettle()).status).toBe(200);
    mayCall(true);
    await untilDeliveriesAre(bet, [
      { operation: 'settle', state: 'delivered' },
      { operation: 'settle', state: 'superseded' },
      { operation: 'unsettle', state: 'delivered' },
    ]);
    expect(new Set(settlesOf(bet))).toEqual(new Set(['20']));
    expect(bet.balance()).toBe('900');
  });

  it('it is delivered if an earlier settle is dead, because the wallet may have executed it', async () => {
    const executed = { kind: 'status', status: 500, effect: 'applied' } as const;
    const bet = await withUnattemptedSettle(executed, { kind: 'code', code: 20 });
    await untilDeliveriesAre(bet, [{ state: 'dead' }, { state: 'pending', attempts: 0 }]);
    expect(bet.balance()).toBe('920');
    expect((await bet.unsettle()).status).toBe(200);
    mayCall(true);
    await untilDeliveriesAre(bet, [
      { state: 'dead' },
      { operation: 'settle', state: 'superseded' },
      { operation: 'unsettle', state: 'delivered' },
    ]);
    expect(bet.balance()).toBe('900');
  });

  it('it is delivered for a bet unknown here: its wallet may hold a result from before', async () => {
    const bet = await acceptedBet(gateway);
    expect((await bet.settle('20')).status).toBe(200);
    // As if pruned long ago, or lost when a journal was restored.
    await forget(bet);
    mayCall(false);
    expect((await bet.settle('50')).status).toBe(200);
    expect((await bet.unsettle()).status).toBe(200);
    mayCall(true);
    await untilDeliveriesAre(bet, [
      { operation: 'settle', state: 'superseded', attempts: 0 },
      { operation: 'unsettle', state: 'delivered' },
    ]);
    expect(settlesOf(bet)).toEqual(['20']);
    expect(bet.balance()).toBe('900');
  });

  it('it is no call where no wallet can hold a result: none was ever attempted', async () => {
    const bet = await acceptedBet(gateway);
    mayCall(false);
    expect((await bet.settle('20')).status).toBe(200);
    expect((await bet.unsettle()).status).toBe(200);
    mayCall(true);
    expect(await bet.deliveries()).toMatchObject([{ operation: 'settle', state: 'superseded' }]);
    expect((await bet.rollback()).status).toBe(200);
    expect(bet.arrivals()).toEqual(['place', 'rollback']);
  });
});
