import { openLongConnection, withConnection } from '../server/connection.ts';
import { clientRows } from '../sql/client-rows.ts';
import { pruneBets } from './prune-bets.ts';
import { pruneBonusCalls } from './prune-bonus-calls.ts';
import { pruneDeliveries } from './prune-deliveries.ts';
import { type PrunedMonth, pruneMonths } from './prune-months.ts';
import type { PruneOptions } from './prune-options.ts';
import { pruneSessions } from './prune-sessions.ts';

export interface Pruned {
  readonly months: readonly PrunedMonth[];
  /** Deliveries that ended before. */
  readonly deliveries: number;
  /** Bets that ended before, and have nothing in a month that is kept. */
  readonly bets: number;
  /** Sessions that ended before, that no bet needs, and that nothing could open again. */
  readonly sessions: number;
  /** Calls of the bonus API that were closed before. */
  readonly bonusCalls: number;
}

/**
 * Deletes old months from the journal, then bets, deliveries, sessions and calls of the bonus API that ended
 * before. A month with an open bet is refused; operations of waiting bets move to `operations_rest`.
 * @throws Error of `pg`; what was pruned before stays pruned
 */
export async function prune(databaseUrl: string, options: PruneOptions): Promise<Pruned> {
  return await withConnection(openLongConnection(databaseUrl, 'prune'), async (client) => {
    const months = await pruneMonths(client, options);
    const deliveries = await pruneDeliveries(client, options);
    const bets = await pruneBets(client, options);
    const sessions = await pruneSessions(client, options);
    const bonusCalls = await pruneBonusCalls(client, options);
    return { months, deliveries, bets, sessions, bonusCalls };
  });
}

/** The time of PostgreSQL's clock. @throws Error of `pg` when it cannot be reached */
export async function timeThere(databaseUrl: string): Promise<Date> {
  return await withConnection(openLongConnection(databaseUrl, 'prune'), async (client) => {
    const [now] = await clientRows(client, 'SELECT clock_timestamp() AS now', [], (row) =>
      row.date('now'),
    );
    if (now === undefined) throw new Error('PostgreSQL does not say what time it is');
    return now;
  });
}
