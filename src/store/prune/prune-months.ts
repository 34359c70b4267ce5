import type { Client } from 'pg';
import { HAS_DEAD, HAS_OPEN, IS_PLACE_UNRESOLVED, MOVES_NOTHING } from '../bets/ended.ts';
import { clientRows } from '../sql/client-rows.ts';
import { withLockTries } from '../sql/lock-tries.ts';
import { newestGone, type PrunedTables, unbookedOf } from './prune-books.ts';
import type { PruneOptions } from './prune-options.ts';

/** How many of the bets that prevent the deletion of a month are shown. */
const OPEN_SHOWN = 10;
/** Callbacks wait behind a request for the tables' lock: after this it lets them pass, and tries again. */
const LOCK_TIMEOUT_MS = 500;
const LOCK_TRIES = 20;

const OPEN_WHY = [
  'in_flight',
  'unresolved',
  'pending_delivery',
  'dead_delivery',
  'not_booked',
] as const;

/** A bet that prevents deleting a month: it needs a wallet's answer or a person; `not_booked` a running worker. */
export interface OpenBet {
  readonly transactionId: string;
  readonly operatorId: string | null;
  readonly why: (typeof OPEN_WHY)[number];
}

export interface PrunedMonth {
  /** `2026-05` */
  readonly month: string;
  /** `refused`: a bet of the month is still open; `dropped`: deleted, or in a dry run, would be. */
  readonly result: 'dropped' | 'refused';
  /** At most ten. */
  readonly open: readonly OpenBet[];
  /** Bets that still wait for their result, or must be confirmed: their operations were kept. */
  readonly carriedOver: number;
}

/** Deletes old months with their tables, oldest first. @throws Error of `pg`; the months before stay dropped */
export async function pruneMonths(
  client: Client,
  options: PruneOptions,
): Promise<readonly PrunedMonth[]> {
  const months: PrunedMonth[] = [];
  for (const month of await monthsBefore(client, options.before)) {
    months.push(await pruneMonth(client, month, options));
  }
  return months;
}

/** Months with a table, oldest first. */
async function monthsBefore(client: Client, before: Date): Promise<readonly string[]> {
  const months = await clientRows(
    client,
    `SELECT replace(right(c.relname, 7), '_', '-') AS month
       FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = 'operations'::regclass AND c.relname ~ '_[0-9]{4}_[0-9]{2}$'
      ORDER BY 1`,
    [],
    (row) => row.text('month'),
  );
  return months.filter((month) => Date.parse(`${month}-01`) < before.getTime());
}

async function pruneMonth(
  client: Client,
  month: string,
  options: PruneOptions,
): Promise<PrunedMonth> {
  const tables = tablesOf(month);
  const { operations } = tables;
  // In this order: what is delivered in between is then found by the second query.
  const waiting = await openBets(client, operations);
  const unbooked = await unbookedOf(client, tables, OPEN_SHOWN);
  const unread = unbooked.map((bet) => ({ ...bet, why: 'not_booked' as const }));
  const open = [...waiting, ...unread].slice(0, OPEN_SHOWN);
  if (open.length > 0) return { month, result: 'refused', open, carriedOver: 0 };
  const [carriedOver = 0] = await clientRows(
    client,
    `SELECT count(*)::int AS count FROM (${waitingIn(month)}) waiting
      WHERE (SELECT true FROM ${operations} o WHERE o.transaction_id = waiting.transaction_id LIMIT 1)`,
    [],
    (row) => row.int('count'),
  );
  if (!options.isDryRun) {
    options.log(`${month}: dropping${carriedOver > 0 ? `, ${carriedOver} waiting bets kept` : ''}`);
    await dropMonth(client, month);
  }
  return { month, result: 'dropped', open, carriedOver };
}

function tablesOf(month: string): PrunedTables {
  const suffix = month.replace('-', '_');
  return { month, operations: `operations_${suffix}`, attempts: `attempts_${suffix}` };
}

/** Bets with anything open: from indexes that contain only those, however many bets there are. */
const OPEN_BETS = `
       SELECT transaction_id FROM bets WHERE busy_until IS NOT NULL
       UNION SELECT transaction_id FROM bets b WHERE ${IS_PLACE_UNRESOLVED}
       UNION SELECT transaction_id FROM deliveries WHERE state IN ('live', 'pending')
       UNION SELECT transaction_id FROM deliveries WHERE state = 'dead'`;

async function openBets(client: Client, operations: string): Promise<readonly OpenBet[]> {
  return await clientRows(
    client,
    `SELECT b.transaction_id, b.operator_id,
            CASE WHEN b.busy_attempt IS NOT NULL OR b.place = 'in_flight' THEN 'in_flight'
                 WHEN b.place = 'unknown' AND b.rollback = 'none' THEN 'unresolved'
                 WHEN ${HAS_DEAD} THEN 'dead_delivery'
                 ELSE 'pending_delivery' END AS why
       FROM (${OPEN_BETS}) open JOIN bets b USING (transaction_id)
      WHERE (b.busy_attempt IS NOT NULL OR b.place = 'in_flight'
             OR b.place = 'unknown' AND b.rollback = 'none'
             OR ${HAS_OPEN} OR ${HAS_DEAD})
        AND (SELECT true FROM ${operations} o WHERE o.transaction_id = b.transaction_id LIMIT 1)
      ORDER BY 1 LIMIT ${OPEN_SHOWN}`,
    [],
    (row) => ({
      transactionId: row.text('transaction_id'),
      operatorId: row.textOrNull('operator_id') ?? null,
      why: row.oneOf('why', OPEN_WHY),
    }),
  );
}

/**
 * Bets without a result that may have operations in a month: an outright may wait for years. Found by state and
 * time, because most have ended. Also bets whose result or rollback must still be confirmed.
 */
const waitingIn = (month: string) => `
  SELECT b.transaction_id FROM bets b
   WHERE b.place <> 'in_flight' AND b.created_at < '${month}-01'::timestamptz + interval '1 month 2 days'
     AND bet_state(b.place, b.settlement, b.rollback) IN ('accepted', 'unseen', 'settlement_unknown')
     AND b.rollback = 'none' AND b.settlement <> 'settled' AND b.place IN ('accepted', 'unseen')
     AND NOT ${MOVES_NOTHING}
  UNION SELECT transaction_id FROM bets WHERE confirm_at IS NOT NULL`;

/** Advisory lock: what has been blanked of a forgotten player must not come back with older copies. */
export const KEPT_MESSAGES_LOCK_KEY = 1_640_532_529;

/** Copies the rows to keep before anything is locked, so that the tables are locked only for a moment. */
async function dropMonth(client: Client, month: string): Promise<void> {
  const { operations, attempts } = tablesOf(month);
  await client.query('SELECT pg_advisory_lock($1)', [KEPT_MESSAGES_LOCK_KEY]);
  await client.query(
    `CREATE TEMP TABLE kept_bets AS ${waitingIn(month)};
     ANALYZE kept_bets;
     CREATE TEMP TABLE kept_operations AS
       SELECT o.* FROM ${operations} o JOIN kept_bets USING (transaction_id);
     CREATE TEMP TABLE kept_attempts AS ${keptAttempts(operations, attempts)};
     CREATE TEMP TABLE left_attempts AS
       SELECT a.operation_id, a.number, a.started_at FROM attempts_rest a
         JOIN ${operations} o ON o.id = a.operation_id
        WHERE NOT EXISTS (SELECT FROM kept_operations k WHERE k.id = o.id)`,
  );
  const newest = await newestGone(client, tablesOf(month));
  const prunedIn = newest === null ? 'NULL' : client.escapeLiteral(newest);
  // First the rows of `attempts_rest`, which without their operations cannot be found. Up to the new cursor a
  // rebuild can no longer prove anything: what is booked stays.
  await inLockedTransaction(
    client,
    `DELETE FROM attempts_rest a USING left_attempts l
      WHERE (a.operation_id, a.number, a.started_at) = (l.operation_id, l.number, l.started_at);
     UPDATE books_cursor SET version = version + 1, pruned_in = greatest(pruned_in, ${prunedIn}::xid8);
     DROP TABLE ${operations}, ${attempts};
     INSERT INTO operations SELECT * FROM kept_operations;
     INSERT INTO attempts SELECT * FROM kept_attempts`,
  );
  await client.query('DROP TABLE kept_operations, kept_attempts, kept_bets, left_attempts');
  await client.query('SELECT pg_advisory_unlock($1)', [KEPT_MESSAGES_LOCK_KEY]);
}

/**
 * The attempts of a month whose operations are kept. An attempt's month may differ from its operation's, as of a
 * promise; such strays are few and are searched by key, not with whole rows.
 */
const keptAttempts = (operations: string, attempts: string) => `
  WITH strays AS MATERIALIZED (
    SELECT a.operation_id, a.number, a.started_at FROM ${attempts} a
     WHERE NOT EXISTS (SELECT FROM ${operations} o WHERE o.id = a.operation_id)
  )
  SELECT a.* FROM ${attempts} a JOIN kept_operations k ON k.id = a.operation_id
  UNION ALL
  SELECT a.* FROM strays s
    JOIN ${attempts} a ON (a.operation_id, a.number, a.started_at) = (s.operation_id, s.number, s.started_at)
   WHERE (SELECT true FROM operations o WHERE o.id = s.operation_id LIMIT 1)`;

/**
 * One transaction, tried again if others hold the tables. It is one message, so that PostgreSQL ends it even if
 * this process freezes; otherwise every callback would wait.
 */
async function inLockedTransaction(client: Client, statements: string): Promise<void> {
  await withLockTries({ tries: LOCK_TRIES, pauseMs: LOCK_TIMEOUT_MS * 2 }, async () => {
    try {
      await client.query(
        `BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}; ${statements}; COMMIT`,
      );
    } catch (error) {
      // On a broken connection this fails too, and says less than what broke it.
      await client.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  });
}
