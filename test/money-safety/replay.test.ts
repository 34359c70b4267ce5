import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { settleBody, updateBody } from '../../src/protocol/callback-bodies.ts';
import type { CallResult } from '../../tools/simulator/signed-client.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet, settlesOf, untilDeliveriesAre } from './support/bets.ts';
import { PATIENT, QUEUEING, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT, queue: QUEUEING },
  });
});
afterEach(() => {
  for (const id of ['alpha', 'queue']) gateway.wallet(id).behave();
});
afterAll(() => gateway.close());

/** Bytes signed by the service, which anybody may send again. */
function settleBytes(bet: TestBet, amount: string): string {
  return settleBody(bet.slip, { amount, resultType: 'won', token: undefined });
}
const put = (body: string, at: TestGateway = gateway): Promise<CallResult> =>
  at.service.call('PUT', '/payment/bet', body);

describe('replay: a result on record with a final answer gets that answer and is not sent (I5)', {
  timeout: 60_000,
}, () => {
  it('settle 100, resettle 0, and the first settle’s bytes again: not paid again', async () => {
    const bet = await acceptedBet(gateway);
    const captured = settleBytes(bet, '100');
    const first = await put(captured);
    expect(first.status).toBe(200);
    expect((await bet.settle('0', 'lost')).status).toBe(200);
    const replayed = await put(captured);
    expect([replayed.status, replayed.body]).toEqual([200, first.body]);
    expect(settlesOf(bet)).toEqual(['100', '0']);
    expect(bet.balance()).toBe('900');
  });

  it('a refusal is a final answer too: its bytes do not pay later what was refused', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    const captured = settleBytes(bet, '100');
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    const first = await put(captured);
    expect([first.status, first.json?.code]).toEqual([400, 20]);
    expect((await put(captured)).body).toBe(first.body);
    expect(settlesOf(bet)).toEqual(['100']);
    // A new requestId makes it a new request of the service.
    expect((await bet.settle('100')).status).toBe(200);
    expect((await put(captured)).body).toBe(first.body);
    expect(settlesOf(bet)).toEqual(['100', '100']);
  });

  it('after its rollback the captured settle is answered, and nothing is sent', async () => {
    const bet = await acceptedBet(gateway);
    const captured = settleBytes(bet, '100');
    expect((await put(captured)).status).toBe(200);
    expect((await bet.rollback()).status).toBe(200);
    await put(captured);
    expect(bet.arrivals()).toEqual(['place', 'settle', 'rollback']);
    expect(bet.balance()).toBe('1000');
  });

  it('a settle that was promised is on record by its promise', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'queue' });
    const { transactionId } = bet;
    const captured = settleBytes(bet, '100');
    bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId, calls: 1 });
    const first = await put(captured);
    expect(first.status).toBe(200);
    await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    expect((await bet.unsettle()).status).toBe(200);
    expect((await put(captured)).body).toBe(first.body);
    expect(bet.balance()).toBe('900');
  });

  it('the same result with a new requestId is a new operation', async () => {
    const bet = await acceptedBet(gateway);
    expect((await bet.settle('100')).status).toBe(200);
    expect((await bet.unsettle()).status).toBe(200);
    expect((await bet.settle('100')).status).toBe(200);
    expect(settlesOf(bet)).toEqual(['100', '100']);
    expect(bet.balance()).toBe('1000');
  });

  it('503 is no final answer: the same bytes again are the repeat that was asked for', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    const body = settleBytes(bet, '100');
    bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId, calls: 1 });
    expect((await put(body)).status).toBe(503);
    expect((await put(body)).status).toBe(200);
    expect(settlesOf(bet)).toEqual(['100', '100']);
    expect((await put(body)).status).toBe(200);
    expect(settlesOf(bet)).toEqual(['100', '100']);
  });

  it('copies at the same moment, here and at another replica, are one call', async () => {
    const bet = await acceptedBet(gateway);
    const replica = await gateway.replica();
    const body = settleBytes(bet, '100');
    const gate = bet.wallet.hold('settle', { transactionId: bet.transactionId });
    const first = put(body);
    await gate.arrived;
    const copies = [put(body), put(body, replica)];
    await bet.isWaitedFor();
    gate.release();
    const answers = await Promise.all([first, ...copies]);
    expect(new Set(answers.map((answer) => answer.body)).size).toBe(1);
    expect(settlesOf(bet)).toEqual(['100']);
  });
});

describe('replay: an update on record gets its answer and does not take an older one back (I5)', {
  timeout: 60_000,
}, () => {
  const updatesOf = (bet: TestBet) =>
    bet.arrivals().filter((arrival) => arrival === 'update').length;

  it('1.5, 1.7, and the first one’s bytes again: the wallet keeps 1.7', async () => {
    const bet = await acceptedBet(gateway);
    const captured = updateBody(bet.slip, '1.5');
    const first = await put(captured);
    expect((await bet.update('1.7')).status).toBe(200);
    const replayed = await put(captured);
    expect([replayed.status, replayed.body]).toEqual([200, first.body]);
    expect(updatesOf(bet)).toBe(2);
    expect((await bet.update('1.5')).status).toBe(200);
    expect(updatesOf(bet)).toBe(3);
  });

  it('a copy of a promised update is on record, and does not stand in its way (I4)', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    bet.wallet.misbehave('update', { kind: 'reset' }, { transactionId, calls: 1 });
    const first = await bet.update('1.5');
    expect((await bet.update('1.5')).body).toBe(first.body);
    await untilDeliveriesAre(bet, [{ state: 'delivered' }]);
    expect(updatesOf(bet)).toBe(2);
  });

  it('copies that wait behind another update are promised once (I5)', async () => {
    const bet = await acceptedBet(gateway);
    const { transactionId } = bet;
    const older = bet.wallet.hold('update', { transactionId });
    const first = bet.update('1.5');
    await older.arrived;
    const body = updateBody(bet.slip, '1.7');
    const newer = bet.wallet.hold('update', { transactionId, point: 'after' });
    const copies = [put(body), put(body)];
    await bet.isWaitedFor();
    older.release();
    await newer.arrived;
    const answers = await Promise.all(copies);
    newer.release();
    const [one, other] = answers.map(({ status, body }) => ({ status, body }));
    expect(other).toEqual(one);
    expect((await first).status).toBe(200);
  });
});

describe('replay: a copy that was answered from the journal (I5)', { timeout: 60_000 }, () => {
  it('is on record by its own requestId: its bytes pay nothing when another result stands', async () => {
    const bet = await acceptedBet(gateway);
    expect((await put(settleBytes(bet, '9.20'))).status).toBe(200);
    const repeat = settleBytes(bet, '9.20');
    const answered = await put(repeat);
    expect(answered.status).toBe(200);
    expect((await put(settleBytes(bet, '392.10'))).status).toBe(200);
    const balance = bet.balance();
    const again = await put(repeat);
    expect([again.status, again.body]).toEqual([200, answered.body]);
    expect(settlesOf(bet)).toEqual(['9.20', '392.10']);
    expect(bet.balance()).toBe(balance);
  });
});
