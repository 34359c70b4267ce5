import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resolveResult } from '../../src/engine/resolve-result.ts';
import { type PersonsWord, UnknownResults } from '../../src/store/bets/unknown-results.ts';
import { BooksChecks } from '../../src/store/books/checks.ts';
import { bookAll } from '../books/support/kept-books.ts';
import { deliveriesOf, sql } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import {
  acceptedBet,
  hourPasses,
  lose,
  requestIdsOf,
  settlesOf,
  timeComes,
  untilDeliveriesAre,
} from './support/bets.ts';
import { PATIENCE, PATIENT, QUEUEING, QUICK } from './support/patience.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const hold = { wallet: { ...PATIENT.wallet, dialect: { unknownRepeats: 'hold' } } };
  const stable = { wallet: { ...PATIENT.wallet, dialect: { stableRequestId: true } } };
  gateway = await startTestGateway({
    worker: true,
    gateway: QUICK,
    operators: { alpha: PATIENT, beta: hold, gamma: QUEUEING, delta: stable },
  });
});
afterEach(() => gateway.wallet('alpha').behave());
afterAll(() => gateway.close());

const status = ({ status: of }: { status: number }) => of;
const STAKE: PersonsWord['found'] = { kind: 'stake' };
const RESULT: PersonsWord['found'] = { kind: 'result', amount: '20.00', resultType: 'won' };

/** What a person says that the wallet holds. */
async function say(
  { transactionId }: { transactionId: string },
  found: PersonsWord['found'],
  confirmAfterMs = 60_000,
) {
  const results = new UnknownResults(gateway.parts.database);
  const word = { found, who: 'ann', why: 'asked their support', by: BY };
  return await resolveResult(results, transactionId, word, () => confirmAfterMs);
}

/** A settle of 20 got no answer and may still land; its repeat was refused, and the service gave up. */
async function doubtfulBet(operatorId = 'alpha'): Promise<TestBet> {
  const bet = await acceptedBet(gateway, { operatorId });
  lose(bet, 'settle');
  expect(status(await bet.settle('20'))).toBe(503);
  return bet;
}

/** The same, and the lost call lands no more. */
async function oldDoubt(operatorId?: string): Promise<TestBet> {
  const bet = await doubtfulBet(operatorId);
  await timeComes(bet, 'first');
  await timeComes(bet, 'second');
  return bet;
}

async function stateOf({ transactionId }: TestBet) {
  const [row] = await sql<{ state: string; result: string | null }>(
    gateway,
    `SELECT bet_state(place, settlement, rollback) AS state, settlement_amount AS result
       FROM bets WHERE transaction_id = $1`,
    [transactionId],
  );
  return row;
}

async function refusedRepeat(bet: TestBet): Promise<void> {
  const { transactionId } = bet;
  bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
  expect(status(await bet.settle('20'))).toBe(400);
  expect(await stateOf(bet)).toMatchObject({ state: 'settlement_unknown' });
}

describe('a result of unknown outcome that a person has resolved', { timeout: 60_000 }, () => {
  it('is the bet’s result: a repeat of it is answered 200 and not sent (I5)', async () => {
    const bet = await doubtfulBet();
    await refusedRepeat(bet);
    bet.wallet.applyLate(bet.transactionId);
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    const settlement = { state: 'settled', amount: '20.00', resultType: 'won' };
    expect(await say(bet, RESULT)).toMatchObject({ kind: 'resolved', item: { settlement } });
    expect(await stateOf(bet)).toEqual({ state: 'settled', result: '20.00' });
    const sent = settlesOf(bet).length;
    expect(status(await bet.settle('20'))).toBe(200);
    expect(settlesOf(bet)).toHaveLength(sent);
    expect(bet.balance()).toBe('920');
  });

  it('is none where the wallet holds the stake only: the result that comes next is sent (I2)', async () => {
    const bet = await oldDoubt();
    await refusedRepeat(bet);
    expect(await say(bet, STAKE)).toMatchObject({ item: { settlement: { state: 'unsettled' } } });
    expect(await stateOf(bet)).toEqual({ state: 'accepted', result: null });
    expect(status(await bet.settle('20'))).toBe(200);
    expect(bet.balance()).toBe('920');
  });

  it('is followed by results under their own requestId, also at a wallet that keys on it (I5)', async () => {
    const bet = await oldDoubt('delta');
    await say(bet, STAKE);
    expect(status(await bet.settle('20'))).toBe(200);
    expect(new Set(requestIdsOf(bet)).size).toBe(requestIdsOf(bet).length);
    expect(bet.balance()).toBe('920');
  });

  it.each([STAKE, RESULT])(
    'is never confirmed, nor is what stood before: %j (I5)',
    async (found) => {
      const bet = await acceptedBet(gateway);
      // The wallet is known to have held this one before.
      expect(status(await bet.settle('10'))).toBe(200);
      lose(bet, 'settle');
      expect(status(await bet.settle('20'))).toBe(503);
      await hourPasses(bet);
      expect(await say(bet, found)).toMatchObject({ kind: 'resolved' });
      const sent = settlesOf(bet).length;
      await timeComes(bet, 'first');
      await timeComes(bet, 'second');
      expect(settlesOf(bet)).toHaveLength(sent);
    },
  );

  it('is no fault of the books: no wallet has confirmed it', async () => {
    const bet = await oldDoubt();
    expect(await say(bet, RESULT)).toMatchObject({ kind: 'resolved' });
    expect(status(await bet.settle('50'))).toBe(200);
    expect(status(await bet.settle('20', 'won'))).toBe(200);
    lose(bet, 'settle');
    expect(status(await bet.settle('70'))).toBe(503);
    await hourPasses(bet);
    const held = { kind: 'result', amount: '70', resultType: 'won' } as const;
    expect(await say(bet, held)).toMatchObject({ kind: 'resolved' });
    expect(await bookAll(gateway)).toBeGreaterThan(0);
    const checks = new BooksChecks(gateway.parts.database);
    expect(await checks.checkBets()).toMatchObject({ wrong: 0, isMore: false });
    expect(await checks.violations()).toEqual([]);
  });

  it('is written beside the message that got no answer, not beside a later one that the wallet refused (I12)', async () => {
    const bet = await oldDoubt();
    bet.wallet.misbehave(
      'settle',
      { kind: 'code', code: 20 },
      { transactionId: bet.transactionId, calls: 1 },
    );
    expect(status(await bet.settle('50'))).toBe(400);
    expect(await say(bet, STAKE)).toMatchObject({ kind: 'resolved' });
    const beside = await sql<{ asked: string; kept: string; type: string }>(
      gateway,
      `SELECT convert_from(o.body, 'UTF8')::json ->> 'amount' AS asked, d.settle_amount AS kept,
              d.settle_type AS type
         FROM deliveries d JOIN operations o ON o.id = d.operation_id
        WHERE d.transaction_id = $1 AND d.purpose = 'promise'`,
      [bet.transactionId],
    );
    expect(beside).toEqual([{ asked: '20', kept: '20', type: 'won' }]);
  });

  it('closes its dead letter where repeats are held, and then the next result goes out (I4)', async () => {
    const bet = await oldDoubt('beta');
    await expect.poll(() => deliveriesOf(bet), PATIENCE).toMatchObject([{ state: 'dead' }]);
    expect(await say(bet, STAKE)).toMatchObject({ kind: 'resolved' });
    expect(await deliveriesOf(bet)).toMatchObject([{ state: 'resolved' }]);
    expect(status(await bet.settle('20'))).toBe(200);
  });
});

describe('a person ends a doubt only where nothing else can (I1)', { timeout: 60_000 }, () => {
  it('not while a repeat is in flight, whose answer then counts', async () => {
    const bet = await doubtfulBet();
    const { transactionId } = bet;
    const gate = bet.wallet.hold('settle', { transactionId, point: 'after' });
    const repeat = bet.settle('20');
    await gate.arrived;
    const why = expect.stringContaining('settle is on its way');
    expect(await say(bet, STAKE)).toEqual({ kind: 'refused', why });
    gate.release();
    expect(status(await repeat)).toBe(200);
    const known = expect.stringContaining('not unknown');
    expect(await say(bet, STAKE)).toEqual({ kind: 'refused', why: known });
    expect(await stateOf(bet)).toMatchObject({ state: 'settled', result: '20' });
  });

  it('not over a rollback', async () => {
    const bet = await doubtfulBet();
    expect(status(await bet.rollback())).toBe(200);
    const why = expect.stringContaining('rolled back');
    expect(await say(bet, RESULT)).toEqual({ kind: 'refused', why });
  });

  it('not of a bet that has changed since it was read: two people at once write one of both', async () => {
    const bet = await oldDoubt();
    const both = await Promise.all([say(bet, STAKE), say(bet, RESULT)]);
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['refused', 'resolved']);
    const audited = await sql<{ action: string }>(
      gateway,
      'SELECT action FROM audit WHERE subject = $1',
      [`bet ${bet.transactionId}`],
    );
    expect(audited).toEqual([{ action: 'bet.resolve' }]);
  });

  it('not while its lost call may still land, which would change what the wallet holds (I5)', async () => {
    const bet = await doubtfulBet();
    const why = expect.stringContaining('may still take effect');
    for (const found of [STAKE, RESULT]) {
      expect(await say(bet, found)).toEqual({ kind: 'refused', why });
    }
    await timeComes(bet, 'first');
    expect(await say(bet, STAKE)).toEqual({ kind: 'refused', why });
    await hourPasses(bet);
    // Its operator's file says that calls to this wallet may take effect for five hours.
    expect(await say(bet, STAKE, 1_800_000)).toEqual({ kind: 'refused', why });
    expect(await say(bet, STAKE)).toMatchObject({ kind: 'resolved' });
  });

  it('not of one that a copy was answered 200 for, while it waited once more (I4)', async () => {
    const bet = await doubtfulBet('beta');
    const { transactionId } = bet;
    const put = (state: string) =>
      sql(
        gateway,
        `UPDATE deliveries SET state = $2, next_attempt_at = now() + interval '1 hour'
          WHERE transaction_id = $1`,
        [transactionId, state],
      );
    await expect.poll(() => deliveriesOf(bet), PATIENCE).toMatchObject([{ state: 'dead' }]);
    await put('pending');
    expect(status(await bet.settle('20'))).toBe(200);
    await put('dead');
    await hourPasses(bet);
    const why = expect.stringContaining('retry or resolve delivery');
    expect(await say(bet, STAKE)).toEqual({ kind: 'refused', why });
  });

  it('also where a dead letter was resolved before, and the doubt has stayed (I4)', async () => {
    const bet = await oldDoubt('beta');
    await expect.poll(() => deliveriesOf(bet), PATIENCE).toMatchObject([{ state: 'dead' }]);
    // As `deliveries resolve` leaves it where a later result has passed it.
    await sql(gateway, `UPDATE deliveries SET state = 'resolved' WHERE transaction_id = $1`, [
      bet.transactionId,
    ]);
    // Sent later than any result, and none itself.
    expect(status(await bet.update('2.5'))).toBe(200);
    expect(await say(bet, STAKE)).toMatchObject({ kind: 'resolved' });
    expect(await stateOf(bet)).toMatchObject({ state: 'accepted' });
    expect(await deliveriesOf(bet)).toMatchObject([{ operation: 'settle', resolved_by: 'ann' }]);
  });

  it('not of a result that the service was answered 200 for: that has to be delivered (I4)', async () => {
    const bet = await acceptedBet(gateway, { operatorId: 'gamma' });
    const { transactionId } = bet;
    const stopFailing = bet.wallet.misbehave('settle', { kind: 'reset' }, { transactionId });
    expect(status(await bet.settle('20'))).toBe(200);
    await untilDeliveriesAre(bet, [{ state: 'pending' }]);
    await sql(gateway, 'UPDATE deliveries SET dead_at = now() WHERE transaction_id = $1', [
      transactionId,
    ]);
    const [dead] = await untilDeliveriesAre(bet, [{ state: 'dead' }]);
    stopFailing();
    await hourPasses(bet);
    const why = expect.stringContaining(`retry or resolve delivery ${dead?.id}`);
    for (const found of [STAKE, RESULT]) {
      expect(await say(bet, found)).toEqual({ kind: 'refused', why });
    }
    expect(await deliveriesOf(bet)).toMatchObject([{ state: 'dead' }]);
  });

  it('and then no dead letter of its results can be retried over their word (I6)', async () => {
    const bet = await doubtfulBet();
    lose(bet, 'settle');
    expect(status(await bet.settle('50'))).toBe(503);
    // As where `unknownRepeats: hold` was in force for the first of both.
    await sql(
      gateway,
      `INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                               transaction_time, next_attempt_at, dead_at)
       SELECT min(id), 'alpha', transaction_id, 'settle', 'dead', '', now(), now()
         FROM operations WHERE transaction_id = $1 AND operation = 'settle' GROUP BY transaction_id`,
      [bet.transactionId],
    );
    await hourPasses(bet);
    expect(await say(bet, STAKE)).toMatchObject({ kind: 'resolved' });
    expect(await deliveriesOf(bet)).toMatchObject([{ state: 'resolved' }, { state: 'resolved' }]);
  });

  it('and not of a bet that nobody placed', async () => {
    expect(await say({ transactionId: 'no-such-bet' }, STAKE)).toEqual({ kind: 'missing' });
  });
});
