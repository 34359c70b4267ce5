import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeDueDays } from '../../src/books/close-days.ts';
import { sealOf } from '../../src/books/statement-digest.ts';
import type { Runner } from '../../src/store/books/books-journal.ts';
import { BooksTransaction } from '../../src/store/books/books-transaction.ts';
import { closeDay, type Digest } from '../../src/store/books/closing.ts';
import { keepsOpen, OPEN as LISTED } from '../../src/store/books/open-operations.ts';
import { Statements } from '../../src/store/books/statements.ts';
import { openBooks } from './support/booked-day.ts';
import { AT_ONCE, dayBefore } from './support/closed-days.ts';

const DAY = dayBefore(1);
const PATIENT = { timeout: 20_000, interval: 20 };

const bet = (columns: string, values: string) =>
  `INSERT INTO bets (transaction_id, operator_id, player_id, generation, ${columns})
   VALUES ('bet-9', 'alpha', 1, 1, ${values})`;
const delivery = (operation: string, state: string, createdAt = DAY) =>
  `INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                           transaction_time, next_attempt_at, dead_at, created_at)
   VALUES (1, 'alpha', 'bet-1', '${operation}', '${state}', '', now(), now(), '${createdAt}')`;

/** What may be open at the end of alpha's day. */
const OPEN = {
  call: bet(
    'place, busy_operation, busy_attempt, busy_until',
    `'in_flight', 'place', gen_random_uuid(), '${DAY}T23:59:59Z'::timestamptz + interval '15 s'`,
  ),
  'later call': bet(
    'place, busy_operation, busy_attempt, busy_until',
    `'in_flight', 'place', gen_random_uuid(), '${DAY}T24:00:00Z'::timestamptz + interval '15 s'`,
  ),
  'unknown place': bet('place, created_at', `'unknown', '${DAY}'`),
  'place answered 100': bet(
    'place, place_time, place_answered_unknown, created_at',
    `'accepted', '', true, '${DAY}'`,
  ),
  'unknown place that was rolled back': bet(
    'place, rollback, rollback_time, created_at',
    `'unknown', 'confirmed', '', '${DAY}'`,
  ),
  'unknown result': bet(
    'place, place_time, settlement, late_at',
    `'accepted', '', 'unknown', '${DAY}'`,
  ),
  'unknown result of the day before': bet(
    'place, place_time, settlement, late_at',
    `'accepted', '', 'unknown', '${dayBefore(2)}'`,
  ),
  promise: delivery('settle', 'pending'),
  guard: delivery('rollback', 'live'),
  'promise of the next day': delivery('settle', 'pending', dayBefore(0)),
  update: delivery('update', 'pending'),
  'dead letter': delivery('settle', 'dead'),
};

let books: Awaited<ReturnType<typeof openBooks>>;
beforeEach(async () => {
  books = await openBooks(DAY);
});
afterEach(() => books.close());

/** @param meanwhile called after each pass over the day's movements */
async function close(operatorId: string, meanwhile: (digests: number) => Promise<unknown>) {
  let digests = 0;
  const day = { operatorId, day: DAY, isOverdue: false };
  const due = {
    ...day,
    startsAt: new Date(`${DAY}T00:00:00Z`),
    endsAt: new Date(`${dayBefore(0)}T00:00:00Z`),
  };
  const isClosed = await BooksTransaction.prepared(books.url, (transaction) =>
    closeDay(transaction, due, 'UTC', async (): Promise<Digest> => {
      const seal = await sealOf(new Statements(transaction), operatorId, DAY);
      digests += 1;
      await meanwhile(digests);
      return seal;
    }),
  );
  return { isClosed, digests };
}

const statements = () =>
  books.query('SELECT operator_id, movements::int, sha256 FROM books_statements ORDER BY 1');
const digestNow = (operatorId: string) => sealOf(new Statements(books.database), operatorId, DAY);

describe('a day’s movements are gone through before the books are locked', () => {
  it('so that others are booked meanwhile, however many they are (I7)', async () => {
    await books.book('alpha', 5);
    expect(await close('alpha', () => books.book('beta', 3))).toEqual({
      isClosed: true,
      digests: 1,
    });
    expect(await statements()).toEqual([{ operator_id: 'alpha', ...(await digestNow('alpha')) }]);
  });

  it('and once more where something was booked into the day meanwhile (I12)', async () => {
    await books.book('alpha', 5);
    const bookOnce = async (digests: number) => {
      if (digests === 1) await books.book('alpha', 2);
    };
    expect(await close('alpha', bookOnce)).toEqual({ isClosed: true, digests: 2 });
    const seal = await digestNow('alpha');
    expect(seal.movements).toBe(7);
    expect(await statements()).toEqual([{ operator_id: 'alpha', ...seal }]);
  });

  it('and looked at once more for what keeps the day open (I12)', async () => {
    await books.book('alpha', 5);
    const promise = () => books.query(OPEN.promise);
    expect(await close('alpha', promise)).toEqual({ isClosed: false, digests: 1 });
    expect(await statements()).toEqual([]);
  });

  it('and then held: a process that has read them before books nothing more (I12)', async () => {
    await books.book('alpha', 5);
    const version = () => books.query('SELECT version FROM books_cursor');
    const before = await version();
    expect(await close('alpha', async () => undefined)).toMatchObject({ isClosed: true });
    expect(await version()).not.toEqual(before);
  });

  it('and no rebuild replaces them meanwhile (I12)', async () => {
    await books.book('alpha', 5);
    let isRebuilt = false;
    let rebuilding = Promise.resolve();
    await close('alpha', async () => {
      rebuilding = BooksTransaction.run(books.url, true, async () => {
        isRebuilt = true;
      });
      const waiting = `SELECT count(*)::int AS count FROM pg_locks
        WHERE locktype = 'advisory' AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      await expect.poll(() => books.query(waiting), PATIENT).toEqual([{ count: 1 }]);
      expect(isRebuilt).toBe(false);
    });
    await rebuilding;
    expect(isRebuilt).toBe(true);
  });

  it('by one worker; another one closes another operator’s day', async () => {
    await books.book('alpha', 5);
    await books.book('beta', 2);
    await close('alpha', async () => {
      expect(await close('alpha', async () => undefined)).toEqual({ isClosed: false, digests: 0 });
      expect(await close('beta', async () => undefined)).toEqual({ isClosed: true, digests: 1 });
    });
    expect(await statements()).toMatchObject([{ operator_id: 'alpha' }, { operator_id: 'beta' }]);
    // A later caller finds it closed.
    expect(await close('alpha', async () => undefined)).toEqual({ isClosed: false, digests: 0 });
  });
});

it('a day that something keeps open is not gone through, and the books are not locked for it (I7)', async () => {
  await books.book('alpha', 5);
  await books.query(OPEN.promise);
  const version = () => books.query('SELECT version FROM books_cursor');
  const before = await version();
  expect(await closeDueDays(books.database, books.url, AT_ONCE)).toMatchObject({
    closed: [],
  });
  expect(await version()).toEqual(before);
  await books.query('DELETE FROM deliveries');
  expect(await closeDueDays(books.database, books.url, AT_ONCE)).toMatchObject({
    closed: [{ operatorId: 'alpha', day: DAY }],
  });
});

it.each([
  ['call', true],
  ['later call', false],
  ['unknown place', true],
  ['place answered 100', true],
  ['unknown place that was rolled back', false],
  ['unknown result', true],
  ['unknown result of the day before', false],
  ['promise', true],
  ['guard', true],
  ['promise of the next day', false],
  ['update', false],
  ['dead letter', false],
] as const)(
  'a day is held by an open %s: %s, and never by another operator’s (I8, I12)',
  async (what, keepsItOpen) => {
    await books.query(OPEN[what]);
    const startsAt = new Date(`${DAY}T00:00:00Z`);
    const endsAt = new Date(`${dayBefore(0)}T00:00:00Z`);
    const keptOpenOf = (operatorId: string) =>
      keepsOpen(books.database, { operatorId, day: DAY, startsAt, endsAt, isOverdue: false });
    expect([await keptOpenOf('alpha'), await keptOpenOf('beta')]).toEqual([keepsItOpen, false]);
    // Nor does another operator's statement list it: even its id would say whose bets are lost (I8).
    const day = { operatorId: 'beta', day: DAY, startsAt, endsAt, isOverdue: false };
    expect(await books.database.run(LISTED, day)).toMatchObject([{ count: 0, open: '[]' }]);
  },
);

it('a day waits for the call that ends while it is looked for what keeps it open (I12)', async () => {
  await books.book('alpha', 5);
  const during = `'${DAY}T23:59:59.999Z'::timestamptz`;
  await books.query(`
    INSERT INTO bets (transaction_id, operator_id, player_id, generation, place, busy_operation,
                      busy_attempt, busy_until, created_at)
    VALUES ('bet-9', 'alpha', 1, 1, 'in_flight', 'place', gen_random_uuid(),
            ${during} + interval '15 s', ${during})`);
  let looks = 0;
  const meanwhile: Runner = {
    run: async (statement, input) => {
      const rows = await books.database.run(statement, input);
      if (statement.name === 'books-due-days') return rows;
      looks += 1;
      if (looks > 1) return rows;
      await books.query(`
        WITH freed AS (UPDATE bets SET place = 'accepted', busy_operation = NULL, busy_attempt = NULL,
                              busy_until = NULL WHERE transaction_id = 'bet-9')
        INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed)
        VALUES (9, 1, ${during}, 5, 'accepted', true)`);
      return rows;
    },
  };
  // The call is not in the books yet.
  expect(await closeDueDays(meanwhile, books.url, AT_ONCE)).toMatchObject({
    closed: [],
  });
  expect(await closeDueDays(books.database, books.url, AT_ONCE)).toMatchObject({
    closed: [],
  });
});

it('a day waits for what the books have still to read, however late it is (I12)', async () => {
  await books.book('alpha', 5);
  await books.query(
    `INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed)
     VALUES (9, 1, '${DAY}T12:00:00Z', 5, 'accepted', true)`,
  );
  await books.query(OPEN.promise);
  const late = { ...AT_ONCE, closeAtLatestMinutes: 0 };
  const closeNow = () => closeDueDays(books.database, books.url, late);
  expect(await closeNow()).toMatchObject({ closed: [], failed: [] });
  await books.query('DELETE FROM attempts');
  expect(await closeNow()).toMatchObject({ closed: [{ operatorId: 'alpha', day: DAY }] });
});

it('a day that cannot be looked at keeps no other operator’s day open (I7)', async () => {
  await books.book('alpha', 5);
  await books.book('beta', 2);
  const error = new Error('canceling statement due to statement timeout');
  const slowOfAlpha: Runner = {
    run: async (statement, input) => {
      const { operatorId } = input as { readonly operatorId?: string };
      if (statement.name === 'books-keeps-open' && operatorId === 'alpha') throw error;
      return await books.database.run(statement, input);
    },
  };
  expect(await closeDueDays(slowOfAlpha, books.url, AT_ONCE)).toMatchObject({
    closed: [{ operatorId: 'beta', day: DAY }],
    failed: [{ operatorId: 'alpha', error }],
  });
  expect(await statements()).toMatchObject([{ operator_id: 'beta' }]);
});
