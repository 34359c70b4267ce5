import { named } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';

/** A process that reports nothing about its run for this long is taken for dead. */
const SILENT_SECONDS = 60;
/** The most found differences that one statement deletes: a moment's work. */
const TAKEN_AT_ONCE = 5_000;

/** From now on everybody sees the run as failed, and its process can no longer write to it. */
export const GIVE_UP = statement(
  'reconciliation-give-up',
  named({ id: 'bigint', why: 'text' }),
  `
  UPDATE reconciliations SET why = :why, finished_at = clock_timestamp()
   WHERE id = :id AND state IN ('reading', 'comparing') AND why IS NULL`,
  noRow,
);

export const GIVE_UP_LOST = statement(
  'reconciliation-give-up-lost',
  {},
  `
  UPDATE reconciliations
     SET why = 'the process that ran it has gone away: send the list again',
         finished_at = clock_timestamp()
   WHERE state IN ('reading', 'comparing') AND why IS NULL
     AND alive_at < clock_timestamp() - make_interval(secs => ${SILENT_SECONDS})
  RETURNING id::text`,
  (row) => row.text('id'),
);

/** Deletes findings of runs that were given up. A difference found by another run stays, as that one's. */
export const TAKE_AWAY = statement(
  'reconciliation-take-away',
  {},
  `
  WITH given_up AS MATERIALIZED (
    SELECT id FROM reconciliations WHERE state IN ('reading', 'comparing') AND why IS NOT NULL
  ), piece AS MATERIALIZED (
    SELECT w.reconciliation_id, w.position, w.difference_id, d.xmin AS seen FROM given_up g
      JOIN reconciliation_found w ON w.reconciliation_id = g.id
      LEFT JOIN reconciliation_differences d ON d.id = w.difference_id LIMIT ${TAKEN_AT_ONCE}
  ), unmoved AS MATERIALIZED (
    -- What another run has found since this statement began, only the next one sees: left for that.
    SELECT p.reconciliation_id, p.position FROM piece p
      JOIN reconciliation_differences d ON d.id = p.difference_id AND d.xmin = p.seen
     ORDER BY d.identity FOR UPDATE OF d
  ), found AS (
    DELETE FROM reconciliation_found w
     USING (TABLE unmoved UNION ALL
            SELECT reconciliation_id, position FROM piece WHERE seen IS NULL) p
     WHERE w.reconciliation_id = p.reconciliation_id AND w.position = p.position
    RETURNING w.reconciliation_id, w.difference_id
  ), orphan AS (
    DELETE FROM reconciliation_differences d USING found w
     WHERE d.id = w.difference_id AND d.first_run_id = w.reconciliation_id AND d.resolved_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM reconciliation_found o
                        WHERE o.difference_id = d.id AND o.reconciliation_id <> w.reconciliation_id)
  ), handed_on AS (
    UPDATE reconciliation_differences d
       SET first_run_id = o.first
      FROM (SELECT o.difference_id, min(o.reconciliation_id) AS first FROM found w
              JOIN reconciliation_found o ON o.difference_id = w.difference_id
               AND o.reconciliation_id <> w.reconciliation_id
             GROUP BY o.difference_id) o, found w
     WHERE d.id = o.difference_id AND w.difference_id = d.id AND d.first_run_id = w.reconciliation_id
  ), over AS (
    UPDATE reconciliations r SET state = 'failed' FROM given_up g
     WHERE r.id = g.id AND NOT EXISTS (SELECT 1 FROM piece)
  )
  SELECT count(*)::int AS left FROM given_up`,
  (row) => row.int('left'),
);
