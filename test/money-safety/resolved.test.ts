import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endLeases, sql } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import {
  acceptedBet,
  isConfirming,
  lose,
  settlesOf,
  timeComes,
  untilDeliveriesAre,
} from './support/bets.ts';
import { PATIENCE, QUEUEING, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: QUEUEING },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const status = ({ status: of }: { status: number }) => of;

/** Ends the horizon of its deliveries. */
async function givenUp({ transactionId }: TestBet): Promise<void> {
  const end = `UPDATE deliveries SET dead_at = now() WHERE transaction_id = $1`;
  await sql(gateway, end, [transactionId]);
}

/**
 * A settle of 20 that was promised: one attempt waits at the wallet, the last one has paid, and neither was
 * answered. A person has looked at the wallet and resolved the dead letter.
 */
async function resolvedBet(): Promise<TestBet> {
  const bet = await acceptedBet(gateway);
  const { transactionId } = bet;
  bet.wallet.misbehave('settle', { kind: 'reset', effect: 'later' }, { transactionId, calls: 1 });
  const paid = { kind: 'reset', effect: 'applied' } as const;
  const stopFailing = bet.wallet.misbehave('settle', paid, { transactionId });
  expect(status(await bet.settle('20'))).toBe(200);
  await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'pending' }]);
  await givenUp(bet);
  const [dead] = await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
  stopFailing();
  expect(bet.balance()).toBe('920');
  await asPerson(gateway, (admin) => admin.resolve(dead?.id ?? '', 'ann', 'it is paid', BY));
  return bet;
}

async function isBusy(bet: TestBet): Promise<boolean> {
  const busy = `SELECT busy_attempt IS NOT NULL AS busy FROM bets WHERE transaction_id = $1`;
  const [row] = await sql<{ busy: boolean }>(gateway, busy, [bet.transactionId]);
  return row?.busy === true;
}

describe('rule 3: an attempt of a dead letter that a person has resolved may land last (I5)', {
  timeout: 60_000,
}, () => {
  it('behind the result that comes next', async () => {
    const bet = await resolvedBet();
    expect(status(await bet.settle('50'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('950');
    await timeComes(bet, 'second');
    expect(settlesOf(bet).slice(-3)).toEqual(['50', '50', '50']);
  });

  it('behind its unsettle', async () => {
    const bet = await resolvedBet();
    expect(status(await bet.unsettle())).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('900');
  });

  it('behind its rollback', async () => {
    const bet = await resolvedBet();
    expect(status(await bet.rollback())).toBe(200);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(bet.arrivals().slice(-3)).toEqual(['rollback', 'rollback', 'rollback']);
  });

  it('behind a result that equals it, where another one may land as well', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    lose(bet, 'settle');
    for (const amount of ['10', '20']) expect(status(await bet.settle(amount))).toBe(200);
    const gate = bet.wallet.hold('settle', { transactionId, point: 'after' });
    await gate.arrived;
    const paid = { kind: 'reset', effect: 'applied' } as const;
    const stopFailing = bet.wallet.misbehave('settle', paid, { transactionId });
    gate.release();
    await untilDeliveriesAre(bet, [{ state: 'delivered' }, { state: 'pending' }]);
    await givenUp(bet);
    const [, dead] = await untilDeliveriesAre(bet, [{ state: 'delivered' }, { state: 'dead' }]);
    stopFailing();
    await asPerson(gateway, (admin) => admin.resolve(dead?.id ?? '', 'ann', 'it is paid', BY));
    expect(status(await bet.settle('50'))).toBe(200);
    expect(status(await bet.settle('20'))).toBe(200);
    bet.wallet.applyLate(transactionId);
    expect(bet.balance()).toBe('910');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('920');
  });

  it('but what the person has seen to is not sent by itself', async () => {
    const bet = await resolvedBet();
    const sent = settlesOf(bet).length;
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toHaveLength(sent);
  });

  it('nor where a confirmation of what stood before was on its way, and its process was killed', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    const stopFailing = bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
    for (const amount of ['5', '10', '20']) expect(status(await bet.settle(amount))).toBe(200);
    await untilDeliveriesAre(bet, [{ state: 'pending' }, { attempts: 0 }, { attempts: 0 }]);
    const first = bet.wallet.hold('settle', { transactionId, point: 'after' });
    stopFailing();
    await first.arrived;
    const second = bet.wallet.hold('settle', { transactionId, point: 'after' });
    first.release();
    await second.arrived;
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    second.release();
    const open = [{ state: 'delivered' }, { state: 'delivered' }, { state: 'dead' }] as const;
    const [, , dead] = await untilDeliveriesAre(bet, open);
    const gate = bet.wallet.hold('settle', { transactionId, point: 'before' });
    await isConfirming(bet);
    await gate.arrived;
    await asPerson(gateway, (admin) => admin.resolve(dead?.id ?? '', 'ann', 'by hand', BY));
    await endLeases(gateway, transactionId);
    await expect.poll(() => isBusy(bet), PATIENCE).toBe(false);
    gate.release();
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet).filter((amount) => amount === '20')).toHaveLength(1);
  });
});
