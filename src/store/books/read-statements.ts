import { MOVEMENT_KINDS } from '../../domain/movements.ts';
import { BET_OPERATIONS } from '../../domain/operation.ts';
import { named } from '../sql/named.ts';
import { type Columns, statement } from '../sql/statement.ts';
import { POSITION, type Position, positionOf } from './position.ts';

const MONEY_OPERATIONS = ['place', 'settle', 'unsettle', 'rollback'] as const;

/** An attempt that the books read next. */
export interface JournalEntry {
  readonly at: Position;
  /** Undefined if no wallet has confirmed it, or it moves no money. */
  readonly confirmed: ConfirmedEntry | undefined;
}

export interface ConfirmedEntry {
  readonly transactionId: string;
  readonly operatorId: string;
  readonly playerId: string;
  readonly operation: (typeof MONEY_OPERATIONS)[number];
  /** As the service sent it. */
  readonly body: Buffer;
  /** The place's amount; undefined if no place was seen. */
  readonly amount: string | undefined;
  readonly currency: string | undefined;
  readonly confirmedAt: Date;
  /** `2026-11-20`, in the books' time zone. */
  readonly belongsTo: string;
}

/**
 * Entries written since a position, up to the oldest transaction in flight: whatever that one writes comes after
 * these (docs/decisions/0023). LATERAL, because for a join PostgreSQL scans whole tables.
 */
export const READ_ENTRIES = statement(
  'books-read-entries',
  named({ ...POSITION, time_zone: 'text', limit: 'int' }),
  `
  WITH a AS MATERIALIZED (
    SELECT a.written_in, a.operation_id, a.number, a.confirmed,
           a.started_at + make_interval(secs => a.latency_ms / 1000.0) AS confirmed_at
      FROM attempts a
     WHERE a.confirmed
       -- Subqueries, so that PostgreSQL does not look the place up in its statistics: by those of before the books fell
       -- behind, one row of each month is left, and it would read and sort all that is unbooked for each thousand.
       AND (a.written_in, a.operation_id, a.number)
           > ((SELECT :written_in), (SELECT :operation_id), (SELECT :number))
       AND a.written_in < pg_snapshot_xmin(pg_current_snapshot())
     ORDER BY a.written_in, a.operation_id, a.number LIMIT :limit
  )
  SELECT a.written_in::text, a.operation_id, a.number, b.transaction_id, o.operation,
         b.operator_id, b.player_id, b.amount, b.currency, o.body, a.confirmed_at,
         (a.confirmed_at AT TIME ZONE :time_zone)::date::text AS belongs_to,
         a.confirmed
           AND b.operator_id IS NOT NULL AND b.player_id IS NOT NULL
           AND o.operation <> 'update' AS is_confirmed
    FROM a
    LEFT JOIN LATERAL (SELECT * FROM operations WHERE id = a.operation_id LIMIT 1) o ON true
    LEFT JOIN LATERAL (SELECT * FROM bets WHERE transaction_id = o.transaction_id LIMIT 1) b ON true
   ORDER BY a.written_in, a.operation_id, a.number`,
  (row): JournalEntry => ({
    at: positionOf(row),
    confirmed: row.isNull('is_confirmed') || !row.bool('is_confirmed') ? undefined : entryOf(row),
  }),
);

function entryOf(row: Columns): ConfirmedEntry | undefined {
  const operation = row.oneOf('operation', BET_OPERATIONS);
  if (operation === 'update') return undefined;
  return {
    transactionId: row.text('transaction_id'),
    operatorId: row.text('operator_id'),
    playerId: row.text('player_id'),
    operation,
    body: row.bytes('body'),
    amount: row.textOrNull('amount'),
    currency: row.textOrNull('currency'),
    confirmedAt: row.date('confirmed_at'),
    belongsTo: row.text('belongs_to'),
  };
}

/** The cursor: the position up to which the books are written. */
export const READ_CURSOR = statement(
  'books-read-cursor',
  {},
  `SELECT version::text, written_in::text, operation_id, number, time_zone FROM books_cursor`,
  (row) => ({
    version: row.text('version'),
    at: positionOf(row),
    timeZone: row.textOrNull('time_zone'),
  }),
);

/** The booked movements of some bets, in order. */
export const READ_BOOKED = statement(
  'books-read-booked',
  named({ transaction_ids: 'text[]' }),
  `
  SELECT m.transaction_id, m.kind, m.amount::text, m.currency, m.operation, m.is_freebet
    FROM unnest(:transaction_ids) AS asked(transaction_id) CROSS JOIN LATERAL (
      -- One bet at a time, like the bets of READ_ENTRIES; ORDER BY and OFFSET 0 keep PostgreSQL from joining.
      SELECT * FROM books_movements WHERE transaction_id = asked.transaction_id
       ORDER BY transaction_id, sequence OFFSET 0) m
   ORDER BY m.transaction_id, m.sequence`,
  (row) => ({
    transactionId: row.text('transaction_id'),
    kind: row.oneOf('kind', MOVEMENT_KINDS),
    amount: row.text('amount'),
    currency: row.text('currency'),
    operation: row.oneOf('operation', MONEY_OPERATIONS),
    isFreebet: row.bool('is_freebet'),
  }),
);

/** A closed day, and the position of the books when it was closed. */
export interface Closing {
  readonly operatorId: string;
  readonly day: string;
  readonly at: Position;
}

export const READ_CLOSINGS = statement(
  'books-read-closings',
  named({ operator_ids: 'text[]', from_day: 'date' }),
  `
  SELECT operator_id, day::text, written_in::text, operation_id, number FROM books_statements
   WHERE operator_id = ANY (:operator_ids) AND day >= :from_day`,
  (row): Closing => ({
    operatorId: row.text('operator_id'),
    day: row.text('day'),
    at: positionOf(row),
  }),
);
