import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { resolveResult } from '../../src/operations/resolve-result.ts';
import { type PersonsWord, UnknownResults } from '../../src/store/bets/unknown-results.ts';
import { BooksChecks } from '../../src/store/books/checks.ts';
import { bookAll } from '../books/support/kept-books.ts';
import { deliveriesOf, sql } from '../deliveries/support/deliveries.ts';
import { BY } from '../support/audit.ts';
import type { TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { acceptedBet, hourPasses, lose, settlesOf, timeComes } from './support/bets.ts';
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

  it('is never confirmed, nor is what stood before (I5)', async () => {
    const bet = await acceptedBet(gateway);
    // The wallet is known to have held this one before.
    expect(status(await bet.settle('10'))).toBe(200);
    lose(bet, 'settle');
    expect(status(await bet.settle('20'))).toBe(503);
    await hourPasses(bet);
    expect(await say(bet, RESULT)).toMatchObject({ kind: 'resolved' });
    const sent = settlesOf(bet).length;
    await timeComes(bet, 'first');
    await timeComes(bet, 'second');
    expect(settlesOf(bet)).toHaveLength(sent);
  });

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
});
