import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { deliveriesOf, endLeases, sql } from '../deliveries/support/deliveries.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { betState } from '../support/journal.ts';
import { acceptedBet, isConfirming, lose, settlesOf, timeComes } from './support/bets.ts';
import { PATIENCE, PATIENT, QUEUEING, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: {
      alpha: PATIENT,
      keyed: { wallet: { ...PATIENT.wallet, dialect: { stableRequestId: true } } },
      queueing: QUEUEING,
      forgiving: { wallet: { ...PATIENT.wallet, dialect: { rollbackConfirmedBy: [5] } } },
    },
  });
});
afterEach(() => {
  for (const id of ['alpha', 'keyed', 'queueing', 'forgiving']) gateway.wallet(id).behave();
});
afterAll(() => gateway.close());

const status = ({ status: of }: { status: number }) => of;

/** A bet of which a settle of 10 was lost and one of 20 accepted. */
async function doubtfulBet(operatorId = 'alpha'): Promise<TestBet> {
  const bet = await acceptedBet(gateway, { operatorId });
  lose(bet, 'settle');
  expect(status(await bet.settle('10'))).toBe(503);
  expect(status(await bet.settle('20'))).toBe(200);
  return bet;
}

async function confirmationOf(bet: TestBet) {
  return (await deliveriesOf(bet)).find(({ purpose }) => purpose === 'confirm');
}

describe('rule 4: a confirmation only confirms (I5)', { timeout: 90_000 }, () => {
  it('one without an answer turns nothing unknown: a copy is answered as usual, and not sent', async () => {
    const bet = await doubtfulBet();
    const { transactionId } = bet;
    const stopFailing = bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
    await isConfirming(bet, 2);
    expect(await betState(gateway.databaseUrl, transactionId)).toMatchObject({
      settlement: 'settled',
    });
    const sent = bet.wallet.arrivals(transactionId, 'settle').length;
    gateway.parts.wallets.setOverride('alpha', 'money', 'open');
    // Answered from the journal: the wallet must not even be called.
    await expect.poll(async () => status(await bet.settle('20')), PATIENCE).toBe(200);
    gateway.parts.wallets.setOverride('alpha', 'money', 'auto');
    stopFailing();
    expect(sent).toBeGreaterThanOrEqual(4);
    // If it is not delivered, it is tried again until it is.
    await timeComes(bet, 'first');
    expect(await confirmationOf(bet)).toMatchObject({ state: 'delivered' });
  });

  it('a definite refusal after the acceptance ends it quietly: refused, and the bet as it was', async () => {
    const bet = await doubtfulBet();
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId });
    await timeComes(bet, 'first');
    expect(await confirmationOf(bet)).toMatchObject({ state: 'refused', attempts: 1 });
    expect(await betState(gateway.databaseUrl, transactionId)).toMatchObject({
      settlement: 'settled',
      busy: null,
    });
    expect(status(await bet.settle('20'))).toBe(200);
    expect(settlesOf(bet)).toEqual(['10', '20', '20']);
  });

  it('it carries the requestId of what it confirms, for wallets that key on it', async () => {
    const bet = await doubtfulBet('keyed');
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    const settles = bet.wallet.arrivals(bet.transactionId, 'settle');
    expect(settles.map(({ amount }) => amount)).toEqual(['10', '20', '20', '20']);
    const ids = settles.slice(1).map(({ requestId }) => requestId);
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).not.toBe(settles[0]?.requestId);
  });

  it('a bet that is rolled back meanwhile: whatever the confirmation brings, the rollback stands last', async () => {
    const bet = await doubtfulBet();
    const { transactionId } = bet;
    const gate = bet.wallet.hold('settle', { transactionId });
    await isConfirming(bet);
    await gate.arrived;
    const rolling = bet.rollback();
    await bet.isWaitedFor();
    gate.release();
    expect(status(await rolling)).toBe(200);
    await bet.wallet.waitFor(() => bet.balance() === '1000', PATIENCE.timeout);
    expect(bet.arrivals().at(-1)).toBe('rollback');
    expect(await betState(gateway.databaseUrl, transactionId)).toMatchObject({
      rollback: 'confirmed',
    });
  });

  it('a process killed in the middle of one leaves nothing unknown, and it is sent by another', async () => {
    const bet = await doubtfulBet();
    const { transactionId } = bet;
    const gate = bet.wallet.hold('settle', { transactionId });
    await isConfirming(bet);
    await gate.arrived;
    // As if the held process were gone: its lease ends.
    await endLeases(gateway, transactionId);
    await expect
      .poll(async () => (await betState(gateway.databaseUrl, transactionId))?.busy, PATIENCE)
      .not.toBe(undefined);
    // What it has sent may take effect late as well (rule 3).
    const late = 'SELECT late_kind FROM bets WHERE transaction_id = $1';
    const several = [{ late_kind: 'several' }];
    await expect.poll(() => sql(gateway, late, [transactionId]), PATIENCE).toEqual(several);
    gate.release();
    await timeComes(bet, 'first');
    expect(await betState(gateway.databaseUrl, transactionId)).toMatchObject({
      settlement: 'settled',
    });
    expect(status(await bet.settle('20'))).toBe(200);
  });
});

describe('“nothing to roll back” is believed only where it cannot hide a loss', {
  timeout: 90_000,
}, () => {
  const unknownBet: Misbehaviour = {
    kind: 'status',
    status: 400,
    body: '{"code":5,"message":"no such bet"}',
  };

  it('it confirms the rollback of a bet that never had a result', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'forgiving' });
    const { transactionId } = bet;
    bet.wallet.misbehave('rollback', unknownBet, { transactionId });
    // The service gets the protocol's own answer: already processed.
    expect((await bet.rollback()).json?.code).toBe(8);
    expect(await bet.deliveries()).toEqual([]);
  });

  it('it does not after a settle: the rollback stays open', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'forgiving' });
    const { transactionId } = bet;
    expect(status(await bet.settle('20'))).toBe(200);
    bet.wallet.misbehave('rollback', unknownBet, { transactionId });
    expect(status(await bet.rollback())).toBe(200);
    await expect
      .poll(() => bet.deliveries(), PATIENCE)
      .toMatchObject([{ operation: 'rollback', state: 'pending' }]);
    bet.wallet.behave();
    await bet.wallet.waitFor(() => bet.balance() === '1000', PATIENCE.timeout);
  });
});
