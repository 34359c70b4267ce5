import { Client } from 'pg';
import { plain } from '../lib/plain-text.ts';
import { connectionTo } from '../store/server/connection.ts';
import { ownSessions } from '../store/server/own-sessions.ts';
import { clientRows } from '../store/sql/client-rows.ts';

/** Locks are usually held for milliseconds; after a longer wait people want to know why. */
const FIRST_LOOK_MS = 2_000;
const THEN_EVERY_MS = 5_000;
/** Limit of each step of a look, which must not outlast the work by more. */
const LOOK_MS = 2_000;

/**
 * The sessions that block this command's own and wait for nobody themselves: in a chain of waiting sessions, the last
 * one. Some of their facts, such as the program's name, may be hidden from this role. A running gateway may wait
 * meanwhile too, for this command or for somebody else; that is not what keeps this command waiting.
 */
const HOLDERS = `
  WITH RECURSIVE queue(pid) AS (
    SELECT pid FROM pg_stat_activity
     WHERE pid = ANY ($1) AND wait_event_type = 'Lock'
       AND state_change < clock_timestamp() - interval '1 second'
    UNION
    SELECT unnest(pg_blocking_pids(pid)) FROM queue
  )
  SELECT q.pid, b.usename AS role, b.application_name AS program, b.state,
         floor(extract(epoch FROM clock_timestamp() - b.xact_start))::int AS seconds, left(b.query, 120) AS query
    FROM queue q LEFT JOIN pg_stat_activity b ON b.pid = q.pid
   WHERE cardinality(pg_blocking_pids(q.pid)) = 0 AND (q.pid = 0 OR b.wait_event_type IS DISTINCT FROM 'Lock')
   ORDER BY q.pid`;

interface Holder {
  readonly pid: number;
  readonly role: string | undefined;
  readonly program: string | undefined;
  readonly state: string | undefined;
  readonly seconds: number | undefined;
  readonly query: string | undefined;
}

/**
 * Does work, and reports each session that makes it wait in PostgreSQL for more than two seconds, once.
 *
 * @param tell receives a line that is safe to show
 * @throws what `work` throws
 */
export async function tellingLockHolders<T>(
  url: string,
  tell: (line: string) => void,
  work: () => Promise<T>,
): Promise<T> {
  const watch = new Watch(url, tell);
  try {
    return await work();
  } finally {
    await watch.close();
  }
}

class Watch {
  readonly #url: string;
  readonly #tell: (line: string) => void;
  readonly #told = new Set<number>();
  #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;
  #isOver = false;

  constructor(url: string, tell: (line: string) => void) {
    this.#url = url;
    this.#tell = tell;
    this.#timer = this.#lookAfter(FIRST_LOOK_MS);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  #lookAfter(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#looking = this.#look().then(() => {
        if (!this.#isOver) this.#timer = this.#lookAfter(THEN_EVERY_MS);
      });
    }, ms).unref();
  }

  async #look(): Promise<void> {
    const client = new Client({
      ...connectionTo(this.#url, 'wagergate-watch', {}),
      connectionTimeoutMillis: LOOK_MS,
      query_timeout: LOOK_MS,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      for (const holder of await holders(client)) {
        if (this.#isOver || this.#told.has(holder.pid)) continue;
        this.#told.add(holder.pid);
        this.#tell(plain(lineOf(holder)));
      }
    } catch {
      // What prevents this look also prevents the work, which reports it itself.
    } finally {
      await client.end();
    }
  }
}

async function holders(client: Client): Promise<readonly Holder[]> {
  return await clientRows(client, HOLDERS, [ownSessions()], (row) => ({
    pid: row.int('pid'),
    role: row.textOrNull('role'),
    program: row.textOrNull('program'),
    state: row.textOrNull('state'),
    seconds: row.intOrNull('seconds'),
    query: row.textOrNull('query'),
  }));
}

function lineOf({ pid, role, program, state, seconds, query }: Holder): string {
  if (pid === 0) return 'waiting for a lock of a prepared transaction: see pg_prepared_xacts';
  const who = [role, program, state].filter((word) => word !== undefined && word !== '');
  const since = seconds === undefined ? '' : `, in a transaction for ${seconds} s`;
  const last = query === undefined || query === '' ? '' : `; its last statement: ${query}`;
  // A session of the gateway's own, such as another migration, ends by itself.
  const isOurs = program?.startsWith('wagergate') === true;
  const end = isOurs ? '' : `; if it may be ended: SELECT pg_terminate_backend(${pid})`;
  return `waiting for a lock of PostgreSQL's session ${pid} (${who.join(', ')}${since})${last}${end}`;
}
