import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  acceptedBet,
  lose,
  settlesOf,
  timeComes,
  untilDeliveriesAre,
} from '../money-safety/support/bets.ts';
import { PATIENT, QUEUEING, QUICK } from '../money-safety/support/patience.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';

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

  it('one that was never tried is sent', async () => {
    const bet = await acceptedBet(gateway);
    gateway.parts.wallets.setOverride('alpha', 'money', 'open');
    expect(status(await bet.settle('20'))).toBe(200);
    await holdsRepeats();
    goesOn();
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered' }]);
    expect(bet.balance()).toBe('920');
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
});
