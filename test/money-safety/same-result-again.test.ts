import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Misbehaviour } from '../../tools/simulator/wallet/misbehaviour.ts';
import { attemptsOf, sql } from '../deliveries/support/deliveries.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet, settlesOf, untilDeliveriesAre } from './support/bets.ts';
import { PATIENCE, PATIENT, QUICK } from './support/patience.ts';

/** Its wallet treats every requestId as an operation of its own, so another one is paid again. */
const KEYED = {
  settle: { onFailure: 'queue' },
  wallet: { ...PATIENT.wallet, dialect: { stableRequestId: true } },
} as const;

/** What was attempted is attempted again once the test makes it due. */
const SLOW = { minBackoffMs: 60_000, maxBackoffMs: 60_000 } as const;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: KEYED, beta: { ...KEYED, delivery: SLOW } },
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
});

/** Makes the bet's deliveries due, which wait for a minute after an attempt at `beta`. */
const makeDue = (bet: TestBet) =>
  sql(
    gateway,
    `UPDATE deliveries SET next_attempt_at = clock_timestamp() - interval '1 s'
      WHERE transaction_id = $1 AND state = 'pending'`,
    [bet.transactionId],
  );

/** Its wallet holds a result (10, or none again), and has refused the settle of 20 for now: it is to be sent again. */
async function withAttemptedSettle(standing: 'settle' | 'unsettle' = 'settle'): Promise<TestBet> {
  const bet = await acceptedBet(gateway, { operatorId: 'beta' });
  const { wallet, transactionId } = bet;
  const once = { transactionId, calls: 1 };
  wallet.misbehave('settle', { kind: 'code', code: 1 }, once);
  expect((await bet.settle('10')).status).toBe(200);
  if (standing === 'unsettle') expect((await bet.unsettle()).status).toBe(200);
  expect((await bet.settle('20')).status).toBe(200);
  wallet.misbehave('settle', { kind: 'delay', ms: 1 }, once);
  wallet.misbehave('settle', { kind: 'code', code: 1 }, once);
  await makeDue(bet);
  await vi.waitFor(() => expect(settlesOf(bet)).toEqual(['10', '10', '20']), PATIENCE);
  const confirmed = standing === 'settle' ? [{}] : [{}, {}];
  await untilDeliveriesAre(bet, [...confirmed, { state: 'pending', attempts: 1 }]);
  await vi.waitFor(async () => expect((await attemptsOf(bet)).at(-1)?.code).toBe(1), PATIENCE);
  return bet;
}

describe.concurrent('rule 7: the standing result again while another one waits for its next attempt (I5)', {
  timeout: 60_000,
}, () => {
  it.each([
    ['settle', '10'],
    ['settle', '10.00'],
    ['unsettle', undefined],
  ] as const)(
    'the wallet refuses the other for good: the %s %s that stands is not sent again',
    async (operation, amount) => {
      const bet = await withAttemptedSettle(operation);
      const { wallet, transactionId } = bet;
      const stand = () => (amount === undefined ? bet.unsettle() : bet.settle(amount));
      expect((await stand()).status).toBe(200);
      wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
      const before = bet.arrivals().length;
      await makeDue(bet);
      const confirmed = operation === 'settle' ? [{}] : [{}, {}];
      const after = [...confirmed, { state: 'dead' }, { operation, state: 'superseded' }];
      await untilDeliveriesAre(bet, after);
      expect(bet.arrivals().slice(before)).toEqual(['settle']);
      expect(bet.balance()).toBe(operation === 'settle' ? '910' : '900');
      // It is answered as it stands, and the wallet's next call is the next thing that happens.
      expect((await stand()).status).toBe(200);
      expect((await bet.settle('70')).status).toBe(200);
      expect(bet.arrivals().slice(before)).toEqual(['settle', 'settle']);
      expect(bet.balance()).toBe('970');
    },
  );

  it('the wallet takes the other: the one that stood before is sent after it', async () => {
    const bet = await withAttemptedSettle();
    expect((await bet.settle('10')).status).toBe(200);
    await makeDue(bet);
    await untilDeliveriesAre(bet, [
      { state: 'delivered' },
      { state: 'delivered' },
      { state: 'delivered' },
    ]);
    expect(bet.balance()).toBe('910');
  });
});
