import { BET_STATES } from '../../domain/bet-state.ts';
import type { JournalBet, OpenPromise, PrunedBet } from '../../domain/reconciliation.ts';
import type { SqlValue } from '../sql/sql-value.ts';
import type { Columns } from '../sql/statement.ts';

/** What a line of a list says about a bet; null: the line does not say. */
export interface ListRow {
  readonly line: number;
  readonly transactionId: string;
  /** Only the transactionId could be read: the list has the bet, but what it says about it is unknown. */
  readonly isUnreadable: boolean;
  readonly currency: string | null;
  /** JSON numbers, not negative. */
  readonly stake: string | null;
  readonly payout: string | null;
  readonly state: string | null;
}

/** The bets of the journal with which the list is compared. */
export interface ListComparison {
  readonly operatorId: string;
  /** The days' first instant, and the first instant after them. */
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/** A pair in which the lists may differ. A transactionId that the list has twice appears twice. */
export interface Compared {
  readonly transactionId: string;
  readonly there: ListRow | undefined;
  /** Only a bet of that operator: another operator's bet counts as missing (I8). */
  readonly here: JournalBet | undefined;
  /** What is booked of a bet of that operator which is not `here`. */
  readonly pruned: PrunedBet | undefined;
}

const HERE = [
  'currency',
  'amount',
  'place',
  'place_code',
  'place_answered_unknown',
  'settlement',
  'settlement_amount',
  'settlement_time',
  'rollback',
  'rollback_time',
  'busy_operation',
  'late_kind',
  'late_amount',
  'standing_operation_id',
  'created_at',
] as const;

const PROMISED = ['promised', 'promised_amount', 'is_dead', 'promised_at'] as const;

const columnsOf = (table: string, columns: readonly string[]) =>
  columns.map((column) => `${table}.${column}`).join(', ');

/** Amounts as every currency has them; others are compared in the process, which handles any. */
const PLAIN = `'^[0-9]{1,40}(\\.[0-9]{1,40})?$'`;

const same = (theirs: string, ours: string) => `
       CASE WHEN ${theirs} IS NULL OR ${theirs} = ${ours} THEN true
            WHEN ${theirs} ~ ${PLAIN} AND ${ours} ~ ${PLAIN}
            THEN ${theirs}::numeric = ${ours}::numeric ELSE false END`;

/** Around the requested days: a list may have bets from there too, because other parties' clocks and days differ. */
const AROUND = `interval '1 day'`;

/**
 * One join of the list with the bets of its days, without pairs that certainly agree; bets of other days are
 * looked up. $1 operator, $2 and $3 the days' bounds, $4 every state that a bet may have.
 */
export const COMPARE = `
  WITH promise AS MATERIALIZED (
    SELECT DISTINCT ON (d.transaction_id) d.transaction_id, d.operation AS promised,
           d.settle_amount AS promised_amount, d.state = 'dead' AS is_dead, d.created_at AS promised_at
      FROM deliveries d JOIN bets b ON b.transaction_id = d.transaction_id
     WHERE d.operator_id = $1 AND d.purpose = 'promise' AND d.operation <> 'update'
       AND (d.state IN ('live', 'pending') OR d.state = 'dead')
       AND b.rollback <> 'confirmed' AND d.operation_id > coalesce(b.standing_operation_id, 0)
     ORDER BY d.transaction_id, d.operation_id DESC
  ), pair AS (
    SELECT coalesce(t.transaction_id, b.transaction_id COLLATE "C") AS transaction_id,
           t.line, t.is_unreadable, t.currency AS their_currency, t.stake, t.payout, t.state,
           b.transaction_id IS NOT NULL AS is_near, ${columnsOf('b', [...HERE, ...PROMISED])}
      FROM (SELECT l.*, count(*) OVER (PARTITION BY l.transaction_id) AS copies FROM listed l) t
      FULL JOIN (SELECT n.*, ${columnsOf('p', PROMISED)}
                   FROM (SELECT * FROM bets
                          WHERE operator_id = $1 AND place <> 'in_flight'
                            AND bet_state(place, settlement, rollback) = ANY ($4::text[])
                            AND created_at >= $2::timestamptz - ${AROUND}
                            AND created_at < $3::timestamptz + ${AROUND}) n
                   -- A left join, of those of the day: worded so that PostgreSQL has to sort or hash both. By statistics
                   -- of before an outage, of a day with one bet and one promise, it would compare all with all.
                   FULL JOIN promise p ON p.transaction_id = n.transaction_id
                  WHERE coalesce(n.operator_id, '') = $1) b
        ON b.transaction_id COLLATE "C" = t.transaction_id
     WHERE (t.copies = 1 AND NOT t.is_unreadable AND b.promised IS NULL AND b.place = 'accepted'
            AND b.rollback = 'none' AND (t.currency IS NULL OR t.currency = b.currency)
            AND ${same('t.stake', 'b.amount')}
            AND CASE b.settlement
                WHEN 'settled' THEN coalesce(t.state = 'settled', true)
                                    AND ${same('t.payout', 'b.settlement_amount')}
                WHEN 'unknown' THEN false
                ELSE coalesce(t.state = 'placed', true) AND ${same('t.payout', `'0'`)} END
           ) IS NOT TRUE
       AND (t.transaction_id IS NOT NULL
            OR b.place = 'accepted' AND b.created_at >= $2 AND b.created_at < $3)
  )
  SELECT d.transaction_id, d.line::float8 AS line, d.is_unreadable, d.their_currency, d.stake,
         d.payout, d.state, d.is_near OR far.operator_id IS NOT NULL AS is_here,
         ${HERE.map((column) => `coalesce(d.${column}, far.${column}) AS ${column}`).join(', ')},
         ${PROMISED.map((column) => `coalesce(d.${column}, p.${column}) AS ${column}`).join(', ')},
         hand.words AS resolved_by, coalesce(m.is_freebet, false) AS is_freebet,
         booked.stake AS booked_stake, booked.payout AS booked_payout, booked.is_rolled_back
    FROM (SELECT pair.*, transaction_id COLLATE "default" AS bet_id FROM pair) d
    -- Each by an index, which is in the database's own order of text: for the few that differ.
    LEFT JOIN LATERAL (
      SELECT f.* FROM bets f
       WHERE NOT d.is_near AND f.transaction_id = d.bet_id AND f.operator_id = $1 OFFSET 0) far ON true
    LEFT JOIN promise p ON p.transaction_id = far.transaction_id
    LEFT JOIN LATERAL (
      SELECT v.resolved_by || ': ' || v.resolved_why AS words FROM operations o
        JOIN deliveries v ON v.operation_id = o.id AND v.state IS NOT DISTINCT FROM 'resolved'
       WHERE o.transaction_id = d.bet_id AND (d.is_near OR far.operator_id IS NOT NULL)
       ORDER BY o.id DESC LIMIT 1) hand ON true
    LEFT JOIN LATERAL (
      SELECT s.is_freebet FROM books_movements s
       WHERE s.transaction_id = d.bet_id AND s.sequence = 1 AND s.operator_id = $1 LIMIT 1) m ON true
    LEFT JOIN LATERAL (
      SELECT coalesce(-sum(s.amount) FILTER (WHERE s.kind IN ('stake', 'stake_return')), 0)::text AS stake,
             coalesce(sum(s.amount) FILTER (WHERE s.kind IN ('payout', 'payout_reversal')), 0)::text AS payout,
             bool_or(s.operation = 'rollback') AS is_rolled_back
        FROM books_movements s
       WHERE NOT d.is_near AND far.operator_id IS NULL
         -- IS NOT DISTINCT FROM keeps PostgreSQL from the index of an operator's days: before the table has statistics, all
         -- that the operator ever booked would be read for each bet.
         AND s.transaction_id = d.bet_id AND s.operator_id IS NOT DISTINCT FROM $1) booked ON true
   ORDER BY d.transaction_id, d.line`;

export function comparisonValues(comparison: ListComparison): readonly SqlValue[] {
  const { operatorId, startsAt, endsAt } = comparison;
  return [operatorId, startsAt, endsAt, BET_STATES];
}

export function comparedOf(row: Columns): Compared {
  const transactionId = row.text('transaction_id');
  return {
    transactionId,
    there: row.isNull('line') ? undefined : listRowOf(row),
    here: row.bool('is_here') ? journalBetOf(row) : undefined,
    pruned: row.isNull('is_rolled_back') ? undefined : prunedBetOf(row),
  };
}

function prunedBetOf(row: Columns): PrunedBet {
  const [stake, payout] = [row.text('booked_stake'), row.text('booked_payout')];
  return { stake, payout, isRolledBack: row.bool('is_rolled_back') };
}

function listRowOf(row: Columns): ListRow {
  return {
    line: row.int('line'),
    transactionId: row.text('transaction_id'),
    isUnreadable: row.bool('is_unreadable'),
    currency: row.textOrNull('their_currency') ?? null,
    stake: row.textOrNull('stake') ?? null,
    payout: row.textOrNull('payout') ?? null,
    state: row.textOrNull('state') ?? null,
  };
}

function journalBetOf(row: Columns): JournalBet {
  return {
    currency: row.textOrNull('currency'),
    amount: row.textOrNull('amount'),
    place: row.text('place'),
    placeCode: row.intOrNull('place_code'),
    placeAnsweredUnknown: row.bool('place_answered_unknown'),
    settlement: row.text('settlement'),
    settlementAmount: row.textOrNull('settlement_amount'),
    settlementTime: row.textOrNull('settlement_time'),
    rollback: row.text('rollback'),
    rollbackTime: row.textOrNull('rollback_time'),
    busyOperation: row.textOrNull('busy_operation'),
    lateKind: row.textOrNull('late_kind'),
    lateAmount: row.textOrNull('late_amount'),
    promise: promiseOf(row),
    isFreebet: row.bool('is_freebet'),
    resolvedBy: row.textOrNull('resolved_by'),
    placedAt: row.date('created_at'),
  };
}

function promiseOf(row: Columns): OpenPromise | undefined {
  if (row.isNull('promised')) return undefined;
  return {
    operation: row.oneOf('promised', ['settle', 'unsettle', 'rollback']),
    amount: row.textOrNull('promised_amount'),
    isDead: row.bool('is_dead'),
    promisedAt: row.date('promised_at'),
  };
}
