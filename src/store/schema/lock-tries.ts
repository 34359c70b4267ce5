import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, DatabaseError } from 'pg';
import { clientRows } from '../sql/client-rows.ts';

/** How often a lock that others hold is tried; callbacks proceed between the tries. */
export interface LockTries {
  readonly tries: number;
  readonly pauseMs: number;
  /** Called after each try but the last with who had the lock, for people. */
  readonly onWaiting?: (holders: string) => void;
}

/** Others held the tables during all tries; the message says who. Nothing was done. */
class Locked extends Error {
  override readonly name = 'Locked';
}

/**
 * PostgreSQL's codes for a lock that was not granted within `lock_timeout`, and for a deadlock with a lock of ours: in
 * both cases the holder proceeds once ours are released.
 */
const LOCKED_CODES: ReadonlySet<unknown> = new Set(['55P03', '40P01']);
const HOLDERS_SHOWN = 3;

/**
 * Used unless the role has a limit of its own. While a script waits for a table, callbacks wait behind it, and have
 * 5 s; autovacuum gives way to a lock request after a second.
 */
const LOCK_TIMEOUT = '2s';

/** Limits how long this session waits for a table from now on. */
export async function limitLockWaits(client: Client): Promise<void> {
  await client.query(
    `SELECT set_config('lock_timeout', $1, false) WHERE current_setting('lock_timeout') = '0'`,
    [LOCK_TIMEOUT],
  );
}

/**
 * Runs work that needs exclusive locks on its tables. Waiting for such a lock blocks all later requests, callbacks
 * too: so each try waits only for the `lock_timeout` that `work` runs under, and then lets them pass.
 *
 * @param work is rolled back completely if it throws
 * @throws Error that says who holds the tables, if no try got them; whatever else `work` throws
 */
export async function withLockTries<T>(
  client: Client,
  { tries, pauseMs, onWaiting }: LockTries,
  work: () => Promise<T>,
): Promise<T> {
  for (let left = tries - 1; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseError) || !LOCKED_CODES.has(error.code)) throw error;
      const holders = await holdersOf(client);
      if (left <= 0) {
        throw new Locked(
          `others hold its tables: ${holders}; wait for them or end them, then try again`,
          { cause: error },
        );
      }
      onWaiting?.(holders);
      await sleep(pauseMs);
    }
  }
}

/** The sessions that have held locks on tables of this schema for more than a moment, longest first. */
async function holdersOf(client: Client): Promise<string> {
  const holders = await clientRows(
    client,
    `SELECT DISTINCT l.pid, a.usename, a.application_name,
            to_char(a.xact_start, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
       FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
       LEFT JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
        AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
        -- Of others' users a role may not see since when.
        AND coalesce(a.xact_start < statement_timestamp() - interval '1 second', true)
      ORDER BY since NULLS LAST LIMIT $1`,
    [HOLDERS_SHOWN],
    (row) => ({
      pid: row.intOrNull('pid'),
      user: row.textOrNull('usename'),
      program: row.textOrNull('application_name'),
      since: row.textOrNull('since'),
    }),
  );
  if (holders.length === 0) return 'somebody who has let go of them meanwhile';
  return holders
    .map(({ pid, user, program, since }) => {
      if (pid === undefined) return 'a prepared transaction (pg_prepared_xacts)';
      const what = [program || undefined, user, since && `since ${since}`];
      return `process ${pid} (${what.filter(Boolean).join(', ') || 'of another user'})`;
    })
    .join(', ');
}
