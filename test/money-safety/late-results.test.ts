import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { endLeases } from '../deliveries/support/deliveries.ts';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  acceptedBet,
  lose,
  makeDue,
  settlesOf,
  timeComes,
  untilDeliveriesAre,
  untilSettlesAre,
} from './support/bets.ts';
import { PATIENCE, PATIENT, QUEUEING, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT, queue: QUEUEING },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const status = ({ status: of }: { status: number }) => of;

describe('rule 3: a lost result may land last, so what stands is sent once more, twice (I5)', {
  timeout: 90_000,
}, () => {
  it('a lost settle that was repeated and accepted lands behind another result', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.settle('20'))).toBe(200);
    expect(status(await bet.settle('50'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(settlesOf(bet)).toEqual(['20', '20', '50', '50']);
    expect(bet.balance()).toBe('950');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toEqual(['20', '20', '50', '50', '50']);
  });

  it('it lands after the first confirmation: the second one corrects it', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.settle('50'))).toBe(200);
    await timeComes(bet, 'first');
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'second');
    expect(bet.balance()).toBe('950');
  });

  it('an attempt of a delivery counts like one of a callback', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'queue' });
    gateway.parts.wallets.setOverride('queue', 'money', 'open');
    expect(status(await bet.settle('20'))).toBe(200);
    lose(bet, 'settle');
    gateway.parts.wallets.setOverride('queue', 'money', 'auto');
    await untilDeliveriesAre(bet, [{ operation: 'settle', state: 'delivered', attempts: 2 }]);
    expect(status(await bet.settle('50'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('950');
  });

  it('a lost last confirmation lands behind a later result', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('10'))).toBe(503);
    expect(status(await bet.settle('20'))).toBe(200);
    await timeComes(bet, 'first');
    lose(bet, 'settle');
    await makeDue(bet, 'second');
    await untilSettlesAre(bet, ['10', '20', '20', '20', '20']);
    expect(status(await bet.settle('30'))).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('930');
  });

  it('a lost settle lands after an unsettle', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.unsettle())).toBe(200);
    bet.wallet.applyLate(bet.transactionId);
    expect(bet.balance()).toBe('920');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('900');
  });

  it('a rollback over a lost place is repeated at both times: a late debit is refunded', async () => {
    const bet = await unplacedBet(gateway);
    lose(bet, 'place');
    expect((await bet.place()).json?.code).toBe(100);
    // A wallet without tombstones: nothing to roll back as yet.
    const { transactionId } = bet;
    bet.wallet.misbehave('rollback', { kind: 'code', code: 8 }, { transactionId, calls: 1 });
    expect((await bet.rollback()).json?.code).toBe(8);
    bet.wallet.applyLate(transactionId);
    expect(bet.balance()).toBe('900');
    await timeComes(bet, 'first');
    expect(bet.balance()).toBe('1000');
    await timeComes(bet, 'second');
    expect(bet.arrivals()).toEqual(['place', 'rollback', 'rollback', 'rollback']);
  });

  it('what a killed process left in flight may land late too, whatever it was', async () => {
    const bet = await acceptedBet(gateway);
    expect(status(await bet.settle('20'))).toBe(200);
    await bet.leaveBusy('settle');
    await endLeases(gateway, bet.transactionId);
    await expect.poll(async () => status(await bet.settle('20')), PATIENCE).toBe(200);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toEqual(['20', '20', '20', '20']);
  });

  it('nothing is sent where the late one would change nothing', async () => {
    const bet = await acceptedBet(gateway);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    expect(status(await bet.settle('20.0'))).toBe(200);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toEqual(['20', '20.0']);
  });
});
