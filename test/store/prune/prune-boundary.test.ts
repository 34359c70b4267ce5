import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prune } from '../../../src/store/prune/prune.ts';
import { bookAll } from '../../books/support/kept-books.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { rowsOf } from '../../support/server.ts';

let gateway: TestGateway;
beforeEach(async () => {
  gateway = await startTestGateway();
  await query(`SELECT journal_prepare_month(month) FROM generate_series(
    '2025-12-10'::timestamptz, '2026-02-10', interval '1 month') month`);
});
afterEach(() => gateway.close());

const query = (text: string) => rowsOf(gateway.databaseUrl, text);

/** Dates the operations of a bet: the request on PostgreSQL's clock, the attempt on the process's. */
async function date({ transactionId }: TestBet, asked: string, tried: string): Promise<void> {
  const ids = `SELECT id FROM operations WHERE transaction_id = '${transactionId}'`;
  await query(`UPDATE attempts SET started_at = '${tried}' WHERE operation_id IN (${ids})`);
  await query(`UPDATE operations SET created_at = '${asked}' WHERE id IN (${ids})`);
  await query(`UPDATE bets SET created_at = '${asked}' WHERE transaction_id = '${transactionId}'`);
}

async function pruneMonthsBefore(before: string): Promise<void> {
  const options = { before: new Date(before), isDryRun: false, log: () => undefined };
  const { months } = await prune(gateway.databaseUrl, options);
  expect(months.map(({ result }) => result)).not.toContain('refused');
}

const attemptsOf = ({ transactionId }: TestBet) =>
  query(`SELECT o.operation, a.result FROM operations o LEFT JOIN attempts a ON a.operation_id = o.id
          WHERE o.transaction_id = '${transactionId}' ORDER BY o.id`);

/** A bet that waits for another result: its first one was taken back. */
async function takenBack() {
  const bet = await placedBet(gateway, { amount: '10' });
  const first = () => bet.settle('20', 'won', undefined, { requestId: '"first"' });
  const answer = await first();
  await bet.unsettle();
  return { bet, first, answer };
}

const ALL = [
  { operation: 'place', result: 'accepted' },
  { operation: 'settle', result: 'accepted' },
  { operation: 'unsettle', result: 'accepted' },
];

describe('the outcome of an operation at the edge of two months', () => {
  it('stays with a bet that waits, even if it came in the month after (I5)', async () => {
    const { bet, first, answer } = await takenBack();
    await date(bet, '2025-12-31T23:59:59.999Z', '2026-01-01T00:00:00.002Z');
    await bookAll(gateway);
    await pruneMonthsBefore('2026-01-01');
    expect(await attemptsOf(bet)).toEqual(ALL);
    await pruneMonthsBefore('2026-02-01');
    expect(await attemptsOf(bet)).toEqual(ALL);
    const before = bet.arrivals().length;
    expect((await first()).body).toBe(answer.body);
    expect(bet.arrivals()).toHaveLength(before);
    expect(bet.balance()).toBe('990');
  });

  it('stays with an operation of a month that is kept, where the clock of its process was behind (I5)', async () => {
    const bet = await placedBet(gateway, { amount: '10' });
    const first = () => bet.settle('20', 'won', undefined, { requestId: '"first"' });
    const answer = await first();
    await bet.settle('30');
    await date(bet, '2026-02-01T00:00:00.003Z', '2026-01-31T23:59:59.990Z');
    await query(`SELECT journal_prepare_month('2026-01-10')`);
    await bookAll(gateway);
    await pruneMonthsBefore('2026-02-01');
    const before = bet.arrivals().length;
    expect((await first()).body).toBe(answer.body);
    expect(bet.arrivals()).toHaveLength(before);
    expect(bet.balance()).toBe('1020');

    // It is pruned together with that month.
    await date(bet, '2026-02-01T00:00:00.003Z', '2026-01-31T23:59:59.990Z');
    await pruneMonthsBefore('2026-03-01');
    expect(await attemptsOf(bet)).toEqual([]);
    expect(await query('SELECT * FROM attempts_rest')).toEqual([]);
  });

  it('goes with its month or not at all: a run that ends in the middle leaves nothing that no later one finds', async () => {
    const bet = await placedBet(gateway, { amount: '10' });
    await bet.settle('20');
    await date(bet, '2026-02-01T00:00:00.003Z', '2026-01-31T23:59:59.990Z');
    await bookAll(gateway);
    await pruneMonthsBefore('2026-02-01');
    await query(`
      CREATE FUNCTION killed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'killed'; END $$;
      CREATE TRIGGER killed BEFORE DELETE ON attempts_rest FOR EACH STATEMENT EXECUTE FUNCTION killed()`);
    await expect(pruneMonthsBefore('2026-03-01')).rejects.toThrow('killed');
    await query('DROP TRIGGER killed ON attempts_rest');

    await pruneMonthsBefore('2026-03-01');
    // They contain what the wallet said about a player.
    expect(await query('SELECT * FROM attempts_rest')).toEqual([]);
    expect(await attemptsOf(bet)).toEqual([]);
  });
});
