import { noRow, statement } from '../sql/statement.ts';

/**
 * SQL: an operator's total held time, in milliseconds. A new delivery stores it: only later held time extends its
 * horizon.
 * @param operatorId an expression of type text
 */
export const heldMs = (operatorId: string) =>
  `coalesce((SELECT h.held_ms FROM operator_holds h WHERE h.operator_id = ${operatorId}), 0)`;

/** SQL: milliseconds for which a person has held the operator of `h` since the last count. */
export const HELD_SINCE_COUNTED = `greatest(0,
               extract(epoch FROM clock_timestamp() - greatest(h.counted_at, h.hold_since)) * 1000)`;

/**
 * Adds the time since the last count, so that concurrent replicas add it only once. At most 10 s: while no process ran,
 * nobody knows whether an operator was held.
 */
export const COUNT_HELD = statement(
  'delivery-count-held',
  { operator_ids: ['text[]', (ids: readonly string[]) => ids] },
  `
  INSERT INTO operator_holds AS h (operator_id, held_ms, counted_at)
  SELECT id, 0, clock_timestamp() FROM unnest(:operator_ids) AS o(id) ORDER BY id
  ON CONFLICT (operator_id) DO UPDATE
     SET held_ms = h.held_ms
           + CASE WHEN h.hold_since IS NULL THEN
               least(10000, greatest(0, extract(epoch FROM clock_timestamp() - h.counted_at) * 1000))
             -- Held by a person: that counts even while no process ran.
             ELSE ${HELD_SINCE_COUNTED} END,
         counted_at = clock_timestamp()`,
  noRow,
);

/** Operators whose deliveries a person holds. */
export const HELD_BY_PEOPLE = statement(
  'delivery-held-by-people',
  {},
  'SELECT operator_id FROM operator_holds WHERE hold_since IS NOT NULL',
  (row) => row.text('operator_id'),
);
