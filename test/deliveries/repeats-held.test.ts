import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  acceptedBet,
  isConfirming,
  lose,
  settlesOf,
  timeComes,
  untilDeliveriesAre,
} from '../money-safety/support/bets.ts';
import { PATIENCE, PATIENT, QUEUEING, QUICK } from '../money-safety/support/patience.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import { sql } from './support/deliveries.ts';

const HOLDING = { ...PATIENT.wallet, dialect: { unknownRepeats: 'hold' } } as const;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: QUEUEING, beta: PATIENT },
  });
});
beforeEach(async () => {
  gateway.wallet('alpha').behave();
  await gateway.reconfigure('alpha', QUEUEING);
});
afterAll(() => gateway.close());

const status = ({ status: of }: { status: number }) => of;

/** Its wallet turns out to pay repeats again; nothing is sent in between. */
async function holdsRepeats(): Promise<void> {
  gateway.parts.wallets.setOverride('alpha', 'money', 'open');
  await gateway.reconfigure('alpha', { ...QUEUEING, wallet: HOLDING });
}

function goesOn(): void {
  gateway.wallet('alpha').behave();
  gateway.parts.wallets.setOverride('alpha', 'money', 'auto');
}

/** A settle of 20 that was promised, and tried without an answer. */
async function triedBet(): Promise<TestBet> {
  const bet = await acceptedBet(gateway);
  const { transactionId } = bet;
  bet.wallet.misbehave('settle', { kind: 'reset', effect: 'applied' }, { transactionId });
  expect(status(await bet.settle('20'))).toBe(200);
  await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'pending' }]);
  return bet;
}

/** A settle of 20 that got no answer and is not repeated: the service was told 503, and its dead letter waits. */
async function heldBet(): Promise<{ readonly bet: TestBet; readonly id: string }> {
  const bet = await acceptedBet(gateway, { operatorId: 'beta' });
  const { transactionId } = bet;
  await gateway.reconfigure('beta', { wallet: HOLDING });
  bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId, calls: 1 });
  expect(status(await bet.settle('20'))).toBe(503);
  const [dead] = await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
  return { bet, id: dead?.id ?? '' };
}

async function untilSettlesGrow(bet: TestBet, before: number): Promise<void> {
  await expect.poll(() => settlesOf(bet).length, PATIENCE).toBeGreaterThan(before);
}

describe('when `unknownRepeats: hold` is set while results are open (I5)', {
  timeout: 60_000,
}, () => {
  it('a promised one that may be paid already is left to a person, who may have it sent', async () => {
    const bet = await triedBet();
    await holdsRepeats();
    const sent = settlesOf(bet).length;
    goesOn();
    const [dead] = await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
    expect(settlesOf(bet)).toHaveLength(sent);
    await asPerson(gateway, (admin) => admin.retry(dead?.id ?? '', BY));
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered' }]);
    expect(settlesOf(bet)).toHaveLength(sent + 1);
  });

  it('what a person has had sent goes on until its wallet is there', async () => {
    const bet = await triedBet();
    await holdsRepeats();
    goesOn();
    const [dead] = await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
    const { transactionId } = bet;
    // The wallet says for certain that it has not executed it.
    bet.wallet.misbehave('settle', { kind: 'code', code: 3 }, { transactionId, calls: 2 });
    await asPerson(gateway, (admin) => admin.retry(dead?.id ?? '', BY));
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered' }]);
  });

  it('also where it comes again behind another result, which its wallet refuses', async () => {
    const bet = await triedBet();
    expect(status(await bet.settle('50'))).toBe(200);
    expect(status(await bet.settle('20'))).toBe(200);
    await holdsRepeats();
    const sent = settlesOf(bet).length;
    gateway.wallet('alpha').behave();
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    gateway.parts.wallets.setOverride('alpha', 'money', 'auto');
    await untilDeliveriesAre(bet, [{ state: 'dead' }, { state: 'dead' }, { state: 'dead' }]);
    expect(settlesOf(bet).slice(sent)).toEqual(['50']);
  });

  it('what a person has had sent before that, without an answer, is left to a person again', async () => {
    const bet = await triedBet();
    const { transactionId } = bet;
    await sql(gateway, `UPDATE deliveries SET dead_at = now() WHERE transaction_id = $1`, [
      transactionId,
    ]);
    const [dead] = await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
    const before = settlesOf(bet).length;
    await asPerson(gateway, (admin) => admin.retry(dead?.id ?? '', BY));
    await untilSettlesGrow(bet, before);
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'pending' }]);
    await holdsRepeats();
    const sent = settlesOf(bet).length;
    goesOn();
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
    expect(settlesOf(bet)).toHaveLength(sent);
  });

  it('one that was never tried is sent', async () => {
    const bet = await acceptedBet(gateway);
    gateway.parts.wallets.setOverride('alpha', 'money', 'open');
    expect(status(await bet.settle('20'))).toBe(200);
    await holdsRepeats();
    goesOn();
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered' }]);
    expect(bet.balance()).toBe('920');
  });

  it('a confirmation that waits is not sent: the wallet has that result', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(200);
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered' }]);
    expect(status(await bet.settle('50'))).toBe(200);
    bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
    await isConfirming(bet);
    await holdsRepeats();
    const sent = settlesOf(bet).length;
    goesOn();
    await untilDeliveriesAre(bet, [{ state: 'delivered' }, { state: 'refused' }]);
    expect(settlesOf(bet)).toHaveLength(sent);
    expect(status(await bet.settle('50'))).toBe(200);
  });

  it('one that was lost long before is a dead letter as soon as it comes again (I4)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'beta' });
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    await gateway.reconfigure('beta', { wallet: HOLDING });
    expect(status(await bet.settle('20'))).toBe(503);
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
    expect(settlesOf(bet)).toEqual(['20']);
  });

  it('and counts once a person has resolved it, though its wallet refused another one later', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'beta' });
    const { transactionId } = bet;
    await gateway.reconfigure('beta', PATIENT);
    bet.wallet.misbehave(
      'settle',
      { kind: 'reset', effect: 'applied' },
      { transactionId, calls: 1 },
    );
    expect(status(await bet.settle('20'))).toBe(503);
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    expect(status(await bet.settle('50'))).toBe(400);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    await gateway.reconfigure('beta', { wallet: HOLDING });
    expect(status(await bet.settle('70'))).toBe(503);
    const [dead] = await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
    await asPerson(gateway, (admin) => admin.resolve(dead?.id ?? '', 'ann', 'it is paid', BY));
    expect(status(await bet.settle('70'))).toBe(200);
    expect(settlesOf(bet)).toEqual(['20', '50', '70']);
  });

  it('one that a copy was answered 200 for is not passed by a result that its wallet refused (I4)', async () => {
    const { bet, id } = await heldBet();
    const { transactionId } = bet;
    gateway.parts.wallets.setOverride('beta', 'money', 'open');
    await asPerson(gateway, (admin) => admin.retry(id, BY));
    // Answered by what waits: from now on the service goes by it.
    expect(status(await bet.settle('20'))).toBe(200);
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 2 });
    gateway.parts.wallets.setOverride('beta', 'money', 'auto');
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'dead' }]);
    await gateway.reconfigure('beta', PATIENT);
    expect(status(await bet.settle('50'))).toBe(400);
    await asPerson(gateway, async (admin) => {
      expect(await admin.retry(id, BY)).toMatchObject({ kind: 'retried' });
    });
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered' }]);
    expect(bet.balance()).toBe('920');
  });

  it('one that was only answered 503 is passed by a result that its wallet refused (I6)', async () => {
    const { bet, id } = await heldBet();
    const { transactionId } = bet;
    await gateway.reconfigure('beta', PATIENT);
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    expect(status(await bet.settle('50'))).toBe(400);
    await asPerson(gateway, async (admin) => {
      expect(await admin.retry(id, BY)).toEqual({ kind: 'overtaken' });
    });
  });
});
