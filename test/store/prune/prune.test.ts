import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Pruned, prune } from '../../../src/store/prune/prune.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

const BEFORE = new Date('2026-03-01T00:00:00Z');

let journal: TestJournal;
beforeAll(async () => {
  journal = await openTestJournal();
});
afterAll(() => journal.close());
beforeEach(async () => {
  await journal.sql('TRUNCATE bets, operations, attempts, deliveries');
  // Everything written here counts as booked, unless a test says otherwise.
  await journal.sql(`UPDATE books_cursor SET written_in = '9000000000000000000'`);
  await journal.sql(`SELECT journal_prepare_month(month) FROM generate_series(
    '2026-01-10'::timestamptz, '2026-03-10', interval '1 month') month`);
});

async function rows<Row extends object>(text: string): Promise<Row[]> {
  return await onServer(journal.url, async (client) => (await client.query(text)).rows);
}
const ids = async (table: string) =>
  (await rows<{ id: string }>(`SELECT DISTINCT transaction_id AS id FROM ${table} ORDER BY 1`)).map(
    ({ id }) => id,
  );
const isThere = async (table: string) =>
  (await rows<{ is: boolean }>(`SELECT to_regclass('${table}') IS NOT NULL AS is`))[0]?.is;
const pruned = (isDryRun = false): Promise<Pruned> =>
  prune(journal.url, { before: BEFORE, isDryRun, log: () => undefined });

interface BetFacts {
  readonly place?: string;
  readonly settlement?: string;
  readonly rollback?: string;
  /** The dates of its operations. */
  readonly at?: readonly string[];
  readonly delivery?: string;
}

/** A bet with an operation and an attempt on each of its dates. */
async function bet(transactionId: string, facts: BetFacts = {}): Promise<void> {
  const { at = ['2026-01-15'], place = 'accepted', settlement = 'settled' } = facts;
  await journal.sql(
    `INSERT INTO bets (transaction_id, operator_id, generation, place, settlement, rollback,
                       created_at)
     VALUES ('${transactionId}', 'alpha', 1, '${place}', '${settlement}',
             '${facts.rollback ?? 'none'}', '${at[0]}')`,
  );
  for (const time of at) {
    await journal.sql(
      `WITH op AS (
         INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body,
                                 created_at)
         VALUES ('${transactionId}', 'alpha', 'place', '${randomUUID()}', '{}', '${time}')
         RETURNING id)
       INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed)
       SELECT id, 1, '${time}', 1, 'accepted', true FROM op`,
    );
  }
  if (facts.delivery === undefined) return;
  await journal.sql(
    `INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                             transaction_time, next_attempt_at, dead_at, settled_at)
     SELECT id, 'alpha', transaction_id, 'rollback', '${facts.delivery}', 'then', created_at,
            created_at, created_at
       FROM operations WHERE transaction_id = '${transactionId}' LIMIT 1`,
  );
}

async function untilPruningWaits(): Promise<void> {
  const until = Date.now() + 10_000;
  for (let waits = false; !waits; ) {
    if (Date.now() > until) throw new Error('the pruning never waited for the lock');
    const found = await rows(
      `SELECT 1 FROM pg_stat_activity WHERE application_name = 'wagergate-prune'
         AND datname = current_database() AND wait_event_type = 'Lock'`,
    );
    waits = found.length > 0;
  }
}

describe('pruning', () => {
  it('drops the months before, with the bets and deliveries that ended in them', async () => {
    await bet('january', { rollback: 'confirmed', delivery: 'delivered' });
    await bet('february', { at: ['2026-02-28T23:59:59Z'], place: 'declined', settlement: 'none' });
    await bet('march', { at: ['2026-03-01T00:00:00Z'] });
    const result = await pruned();
    expect(result).toMatchObject({
      months: [
        { month: '2026-01', result: 'dropped', carriedOver: 0 },
        { month: '2026-02', result: 'dropped', carriedOver: 0 },
      ],
      deliveries: 1,
      bets: 2,
    });
    expect(await isThere('operations_2026_01')).toBe(false);
    expect(await isThere('attempts_2026_02')).toBe(false);
    expect(await ids('bets')).toEqual(['march']);
    expect(await ids('operations')).toEqual(['march']);
    expect(await ids('deliveries')).toEqual([]);
  });

  it.each([
    ['a delivery that waits', { rollback: 'promised', delivery: 'pending' }, 'pending_delivery'],
    ['a dead delivery', { rollback: 'promised', delivery: 'dead' }, 'dead_delivery'],
    ['an unresolved place', { place: 'unknown', settlement: 'none' }, 'unresolved'],
  ])('refuses a month with %s, and says which bet it is (I4)', async (_, facts, why) => {
    await bet('open', facts);
    await bet('ended');
    await bet('ended-later', { at: ['2026-02-02'] });
    const { months } = await pruned();
    expect(months).toEqual([
      {
        month: '2026-01',
        result: 'refused',
        open: [{ transactionId: 'open', operatorId: 'alpha', why }],
        carriedOver: 0,
      },
      { month: '2026-02', result: 'dropped', open: [], carriedOver: 0 },
    ]);
    expect(await ids('operations')).toEqual(['ended', 'open']);
    expect(await ids('bets')).toEqual(['ended', 'open']);
  });

  it('keeps everything of a bet whose result or rollback has still to be confirmed (I4)', async () => {
    await bet('settled');
    await bet('rolled-back', { rollback: 'confirmed' });
    await bet('ended');
    await journal.sql(`UPDATE bets SET confirm_at = now() WHERE transaction_id <> 'ended'`);
    expect(await pruned()).toMatchObject({
      months: [{ month: '2026-01', result: 'dropped', carriedOver: 2 }, {}],
      bets: 1,
    });
    expect(await ids('operations')).toEqual(['rolled-back', 'settled']);
    await journal.sql('UPDATE bets SET confirm_at = NULL');
    expect(await pruned()).toMatchObject({ months: [], bets: 2 });
    expect(await ids('operations')).toEqual([]);
  });

  it('keeps everything of a bet that waits for its result, until it has one', async () => {
    await bet('outright', { settlement: 'none' });
    await bet('undone', { settlement: 'unsettled', at: ['2026-01-01', '2026-02-01'] });
    const { months } = await pruned();
    expect(months.map(({ carriedOver }) => carriedOver)).toEqual([2, 1]);
    expect(await rows('SELECT transaction_id, body FROM operations ORDER BY id')).toHaveLength(3);
    expect(await rows('SELECT 1 FROM attempts')).toHaveLength(3);

    await journal.sql(`UPDATE bets SET settlement = 'settled' WHERE transaction_id = 'outright'`);
    expect(await pruned()).toMatchObject({ months: [], bets: 1 });
    expect(await ids('operations')).toEqual(['undone']);
    expect(await rows('SELECT 1 FROM attempts')).toHaveLength(2);
  });

  it('keeps no place that was refused, as if its bet waited for a result', async () => {
    const unseen = { place: 'unseen', settlement: 'none' };
    await bet('refused', unseen);
    await bet('refused-lately', { ...unseen, at: ['2026-01-15', '2026-03-02'] });
    await bet('told-of-by-its-settle', unseen);
    await journal.sql(
      `UPDATE operations SET operation = 'settle' WHERE transaction_id = 'told-of-by-its-settle';
       UPDATE operations SET answer_status = 400 WHERE transaction_id LIKE 'refused%'`,
    );
    const { months, bets } = await pruned();
    expect(months.map(({ carriedOver }) => carriedOver)).toEqual([1, 0]);
    expect(bets).toBe(1);
    expect(await ids('bets')).toEqual(['refused-lately', 'told-of-by-its-settle']);
    expect(await ids('operations')).toEqual(['refused-lately', 'told-of-by-its-settle']);
  });

  it('keeps a bet that goes on in a later month', async () => {
    await bet('long', { at: ['2026-01-15', '2026-03-15'] });
    expect(await pruned()).toMatchObject({ bets: 0 });
    expect(await ids('bets')).toEqual(['long']);
  });

  it('changes nothing in a dry run, and reports what it would do', async () => {
    await bet('ended', { rollback: 'confirmed', delivery: 'delivered' });
    await bet('outright', { settlement: 'none' });
    expect(await pruned(true)).toMatchObject({
      months: [
        { month: '2026-01', result: 'dropped', carriedOver: 1 },
        { month: '2026-02', result: 'dropped', carriedOver: 0 },
      ],
      deliveries: 1,
      bets: 1,
    });
    expect(await ids('bets')).toEqual(['ended', 'outright']);
    expect(await isThere('operations_2026_01')).toBe(true);
    expect(await ids('deliveries')).toEqual(['ended']);
  });

  it('waits for readers of the journal, and does not give up at once', async () => {
    await bet('ended');
    await onServer(journal.url, async (client) => {
      await client.query('BEGIN; SELECT count(*) FROM operations');
      const pruning = pruned();
      await untilPruningWaits();
      await client.query('COMMIT');
      expect((await pruning).months[0]).toMatchObject({ result: 'dropped' });
    });
  });

  it('keeps a bet to which something happens while it is looked at (I4)', async () => {
    await bet('ended');
    await onServer(journal.url, async (client) => {
      await client.query(
        `BEGIN; UPDATE bets SET rollback = 'promised', rollback_time = 'then', version = version + 1;
         INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                                 transaction_time, next_attempt_at, dead_at)
         VALUES (1, 'alpha', 'ended', 'rollback', 'pending', 'then', now(), now())`,
      );
      const pruning = pruned();
      await untilPruningWaits();
      await client.query('COMMIT');
      const result = await pruning;
      expect(await ids('bets')).toEqual(['ended']);
      expect(result).toMatchObject({ bets: 0 });
    });
  });

  it('keeps a month until its last outcome is in the books, and tells the books what went (I12)', async () => {
    await bet('january', { rollback: 'confirmed' });
    await journal.sql(`UPDATE books_cursor SET written_in = '0', pruned_in = '0'`);
    const [kept] = (await pruned()).months;
    expect(kept).toMatchObject({
      month: '2026-01',
      result: 'refused',
      open: [{ transactionId: 'january', operatorId: 'alpha', why: 'not_booked' }],
    });
    const [last] = await rows<{ at: string }>('SELECT written_in::text AS at FROM attempts');
    await journal.sql(`UPDATE books_cursor SET written_in = '9000000000000000000'`);
    expect((await pruned()).months[0]?.result).toBe('dropped');
    const [cursor] = await rows<{ at: string }>('SELECT pruned_in::text AS at FROM books_cursor');
    expect(cursor).toEqual(last);
  });

  describe('rows of a month that had no table', () => {
    const december = { at: ['2025-12-15'] };

    it('stay until the books have read them (I12)', async () => {
      await bet('december', december);
      await journal.sql(`UPDATE books_cursor SET written_in = '0', pruned_in = '0'`);
      expect(await pruned()).toMatchObject({ bets: 0 });
      expect(await rows('SELECT 1 FROM attempts')).toHaveLength(1);
    });

    it('are told to the books when they go (I12)', async () => {
      await bet('december', december);
      await journal.sql(`UPDATE books_cursor SET pruned_in = '0'`);
      const [last] = await rows<{ at: string }>('SELECT written_in::text AS at FROM attempts');
      expect(await pruned()).toMatchObject({ bets: 1 });
      expect(await rows('SELECT 1 FROM attempts')).toHaveLength(0);
      expect(await rows('SELECT pruned_in::text AS at FROM books_cursor')).toEqual([last]);
    });
  });
});
