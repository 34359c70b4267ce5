import type { Client } from 'pg';
import { BET_STATES } from '../../domain/bet-state.ts';
import { HAS_ENDED } from '../bets/ended.ts';
import { clientRows } from '../sql/client-rows.ts';
import type { PruneOptions } from './prune-options.ts';

const BETS_AT_ONCE = 5_000;

/** For the books, of operations in a month without its own table, which `unbookedOf` does not check. */
const UNREAD = `EXISTS (SELECT 1 FROM operations_rest o JOIN attempts a ON a.operation_id = o.id, books_cursor c
                         WHERE o.transaction_id = b.transaction_id AND a.confirmed
                           AND (a.written_in, a.operation_id, a.number)
                               > (c.written_in, c.operation_id, c.number))`;

/** Ended, nothing open, nothing left for the books to read, and nothing in a month that is kept. */
const ended = (isDryRun: boolean) => `${HAS_ENDED} AND NOT ${UNREAD}
       AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.transaction_id = b.transaction_id
                        AND (o.created_at >= $1::timestamptz
                             ${isDryRun ? '' : "OR o.tableoid <> 'operations_rest'::regclass"}))`;

/**
 * Also the operations that an earlier run had kept, or that had no table of their month. A bet that has changed
 * since it was read has another version, and stays.
 */
const DELETING = `, gone AS (
         DELETE FROM bets b USING looked l
          WHERE l.ended AND b.transaction_id = l.transaction_id AND b.version = l.version
         RETURNING b.transaction_id
       ), operations_gone AS (
         DELETE FROM operations_rest o USING gone g WHERE o.transaction_id = g.transaction_id
         RETURNING o.id
       ), attempts_gone AS (
         DELETE FROM attempts_rest a USING operations_gone o WHERE a.operation_id = o.id
       ), newest_gone AS (
         SELECT a.written_in FROM operations_gone o JOIN attempts a ON a.operation_id = o.id
          WHERE a.confirmed ORDER BY a.written_in DESC LIMIT 1
       ), noted AS (
         UPDATE books_cursor c SET version = c.version + 1, pruned_in = n.written_in
           FROM newest_gone n WHERE c.pruned_in < n.written_in
       )`;

/**
 * Deletes ended bets in batches, state by state, oldest first, by the search's index. A bet that changes its
 * state meanwhile may stay. @returns how many
 */
export async function pruneBets(client: Client, options: PruneOptions): Promise<number> {
  let pruned = 0;
  for (const state of BET_STATES) {
    // A bet in flight has not ended, and is not in the search's index.
    if (state !== 'in_flight') pruned += await pruneState(client, state, pruned, options);
  }
  return pruned;
}

async function pruneState(
  client: Client,
  state: string,
  before: number,
  options: PruneOptions,
): Promise<number> {
  let pruned = 0;
  for (let after = { id: '', at: new Date(0) }; ; ) {
    const [batch] = await clientRows(
      client,
      `WITH looked AS MATERIALIZED (
         SELECT b.transaction_id, b.version, b.created_at, ${ended(options.isDryRun)} AS ended FROM bets b
          WHERE b.place <> 'in_flight' AND bet_state(b.place, b.settlement, b.rollback) = $4
            AND b.created_at < $1::timestamptz
            AND (b.created_at, b.transaction_id) > ($5::timestamptz, $2)
          ORDER BY b.created_at, b.transaction_id LIMIT $3
       )${options.isDryRun ? '' : DELETING}
       SELECT transaction_id AS last, created_at AS last_at,
              (SELECT count(*)::int FROM ${options.isDryRun ? 'looked WHERE ended' : 'gone'}) AS pruned
         FROM looked ORDER BY created_at DESC, transaction_id DESC LIMIT 1`,
      [options.before, after.id, BETS_AT_ONCE, state, after.at],
      (row) => ({
        last: { id: row.text('last'), at: row.date('last_at') },
        pruned: row.int('pruned'),
      }),
    );
    if (batch === undefined) return pruned;
    pruned += batch.pruned;
    if (batch.pruned > 0) options.log(`${before + pruned} ended bets pruned`);
    after = batch.last;
  }
}
