import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deliveriesOf, endLeases, sql } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import {
  acceptedBet,
  isConfirming,
  makeDue,
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
    operators: {
      queueing: QUEUEING,
    },
  });
});
afterEach(() => gateway.wallet('queueing').behave());
afterAll(() => gateway.close());

const status = ({ status: of }: { status: number }) => of;

describe('rule 4: while a person looks after a dead letter', { timeout: 90_000 }, () => {
  /**
   * A settle of 10 was lost and repeated, one of 20 was accepted, one of 30 is a dead letter; 20 is being
   * confirmed.
   */
  async function deadBet() {
    const bet = await acceptedBet(gateway, { operatorId: 'queueing' });
    const { transactionId } = bet;
    const begin = bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
    for (const amount of ['10', '20', '30']) expect(status(await bet.settle(amount))).toBe(200);
    bet.wallet.misbehave('settle', { kind: 'delay', ms: 0 }, { transactionId, calls: 2 });
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    begin();
    const rows = await untilDeliveriesAre(bet, [
      { state: 'delivered' },
      { state: 'delivered' },
      { state: 'dead' },
    ]);
    const comesBack = bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
    await isConfirming(bet);
    return { bet, dead: rows[2]?.id ?? '', comesBack };
  }

  it('it is not sent behind a result that was sent once more', async () => {
    const { bet, dead, comesBack } = await deadBet();
    await asPerson(gateway, (admin) => admin.retry(dead, BY));
    comesBack();
    await untilDeliveriesAre(bet, [{}, {}, { state: 'delivered' }, { state: 'superseded' }]);
    expect([settlesOf(bet).at(-1), bet.balance()]).toEqual(['30', '930']);
    // The bet still has to be confirmed: from now on with this result.
    await timeComes(bet, 'first');
    expect(settlesOf(bet).slice(-2)).toEqual(['30', '30']);
  });

  it('it is not sent over a result that was put right by hand', async () => {
    const { bet, dead, comesBack } = await deadBet();
    await asPerson(gateway, (admin) => admin.resolve(dead, 'ann', 'paid by hand', BY));
    await untilDeliveriesAre(bet, [{}, {}, { state: 'resolved' }, { state: 'superseded' }]);
    const sent = settlesOf(bet).length;
    comesBack();
    expect((await acceptedBet(gateway, { operatorId: 'queueing' })).arrivals()).toEqual(['place']);
    expect(settlesOf(bet)).toHaveLength(sent);
  });

  it('one that was on its way then has nothing confirmed of that result', async () => {
    const { bet, dead, comesBack } = await deadBet();
    const { transactionId } = bet;
    comesBack();
    await timeComes(bet, 'first');
    const again = bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
    await makeDue(bet, 'second');
    const last = async () => (await deliveriesOf(bet)).find(({ purpose }) => purpose === 'confirm');
    await expect.poll(last, PATIENCE).toMatchObject({ state: 'pending' });
    const gate = bet.wallet.hold('settle', { transactionId });
    again();
    await gate.arrived;
    await asPerson(gateway, (admin) => admin.resolve(dead, 'ann', 'paid by hand', BY));
    gate.release();
    await expect.poll(last, PATIENCE).toMatchObject({ state: 'delivered' });
    const left = 'SELECT confirm_left, confirm_at FROM bets WHERE transaction_id = $1';
    const none = { confirm_left: 0, confirm_at: null };
    expect(await sql(gateway, left, [transactionId])).toEqual([none]);
  });

  it('nor does one whose process is killed then', async () => {
    const { bet, dead, comesBack } = await deadBet();
    const { transactionId } = bet;
    const gate = bet.wallet.hold('settle', { transactionId });
    comesBack();
    await makeDue(bet, 'first');
    await gate.arrived;
    await asPerson(gateway, (admin) => admin.resolve(dead, 'ann', 'paid by hand', BY));
    await endLeases(gateway, transactionId);
    await untilDeliveriesAre(bet, [{}, {}, { state: 'resolved' }, { state: 'superseded' }]);
    gate.release();
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    // Only the once when the wallet refused it.
    expect(settlesOf(bet).filter((amount) => amount === '30')).toEqual(['30']);
  });
});
