import { type ClientBase, DatabaseError } from 'pg';
import { FIRST_MIGRATION } from '../schema/migration-history.ts';
import { limited } from '../sql/answer-of.ts';
import { type Connection, clientRows } from '../sql/client-rows.ts';
import type { Columns } from '../sql/statement.ts';
import { isOf, refuseOtherDatabase } from './database-identity.ts';
import { noteOwnSession } from './own-sessions.ts';
import type { ServerFound, ServerRuns } from './server-runs.ts';
import { IS_CHANGED, refuseChangedTextOrder } from './text-order.ts';
import { UnsuitableServer } from './unsuitable-server.ts';

/**
 * `synchronous_commit` keeps its value for the whole connection, even if the server's configuration is reloaded; only
 * `off` becomes `on`. The other values are the server's choice: some of them promise more than `on`.
 *
 * Only the gateway ends idle connections: the server could end one just as a call begins on it, or while it waits for
 * the next piece of a list. Each statement is a transaction with its own time limit; a transaction timeout would end
 * the connection too. Neither is asked for at the start of the connection: servers before 17, and before 14, do not
 * know them, and would refuse the connection before anybody can say that they are too old.
 */
const BEGIN_WITH = `
  SELECT set_config('synchronous_commit', CASE said WHEN 'off' THEN 'on' ELSE said END, false),
         set_config('idle_session_timeout', '0', false),
         CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
              THEN set_config('transaction_timeout', '0', false) END,
         extract(epoch FROM pg_postmaster_start_time())::text AS started_at, pg_is_in_recovery() AS is_standby,
         pg_backend_pid() AS pid
    FROM current_setting('synchronous_commit') AS said`;

/**
 * That and all checks at once. Whoever needs a new connection waits for every round trip of its beginning, and those
 * to a server in another zone take ten milliseconds each.
 */
const ALL_AT_ONCE = `
  SELECT known.oid::text AS oid, ${IS_CHANGED} AS is_changed, control.system_identifier::text AS server,
         first.id AS history, begun.*
    FROM pg_database AS known, pg_control_system() AS control, (${FIRST_MIGRATION}) AS first, (${BEGIN_WITH}) AS begun
   WHERE datname = current_database()`;

/** What a long-running process knows about its database. */
export interface KnownDatabase {
  /** The id found at its start (`databaseId`): a connection that leads to another database is refused. */
  readonly databaseId: string;
  /** Told about each new connection, and asked before one is used again. */
  readonly runs: ServerRuns;
  /** Called for each connection that is refused because of its server. */
  readonly onUnsuitable: (error: UnsuitableServer) => void;
}

/**
 * The checks of each connection before it is used. A start refuses a server that does not wait for its
 * commits (`server-check.ts`); a running process would not notice such a server, and would answer 200 to bets
 * that a crash loses (I3).
 *
 * A pool awaits the promise, although its types do not say so.
 *
 * @param known default: nothing, as for a command that has just been started
 * @param answerMs how long the server may take for each answer; default: as long as the client lets it
 */
export function connectionChecks(
  known?: KnownDatabase,
  answerMs?: number,
): {
  /** @throws UnsuitableServer. @throws Error of `pg` */
  readonly onConnect: (client: ClientBase) => Promise<void>;
} {
  return {
    onConnect: async (client) => {
      const asOf = known?.runs.doubts;
      try {
        const asked = answerMs === undefined ? client : limited(client, answerMs);
        const { server, pid } = await serverOf(asked, known);
        noteOwnSession(client, pid);
        known?.runs.found(client, server, asOf);
      } catch (error) {
        if (error instanceof UnsuitableServer) {
          known?.runs.doubt();
          known?.onUnsuitable(error);
        }
        throw error;
      }
    },
  };
}

/**
 * Checks a connection that is doubted (`ServerRuns`) once more.
 * @param answerMs how long the server may take for each answer
 * @throws UnsuitableServer. @throws Error of `pg`
 */
export async function checkAgain(
  client: ClientBase,
  known: KnownDatabase,
  answerMs: number,
): Promise<void> {
  const asOf = known.runs.doubts;
  await refuseUnsuitable(limited(client, answerMs), known);
  known.runs.trust(client, asOf);
}

async function refuseUnsuitable(
  client: Connection,
  known: KnownDatabase | undefined,
): Promise<void> {
  await refuseChangedTextOrder(client);
  if (known !== undefined) await refuseOtherDatabase(client, known.databaseId);
}

interface Begun {
  readonly server: ServerFound;
  readonly pid: number;
}

async function serverOf(client: Connection, known: KnownDatabase | undefined): Promise<Begun> {
  const asKnown = known && (await asKnownAtOnce(client, known));
  if (asKnown !== undefined) return asKnown;
  await refuseUnsuitable(client, known);
  const [begun] = await clientRows(client, BEGIN_WITH, [], begunOf);
  if (begun === undefined) throw new UnsuitableServer('does not say how it is set up');
  return begun;
}

/** SQLSTATE: the role may not ask this, or the server has no such function or column. */
const NOT_ALLOWED: ReadonlySet<string> = new Set(['42501', '42883', '42703']);

/** Those that may not be asked all at once: not every role may call `pg_control_system`. */
const oneByOne = new WeakSet<KnownDatabase>();

/** @returns undefined if anything is not as at the start, or may not be asked so: asked one by one, it says what */
async function asKnownAtOnce(client: Connection, known: KnownDatabase): Promise<Begun | undefined> {
  if (oneByOne.has(known)) return undefined;
  try {
    const [found] = await clientRows(client, ALL_AT_ONCE, [], (row) => ({
      begun: begunOf(row),
      isChanged: row.bool('is_changed'),
      facts: { history: row.text('history'), server: row.text('server'), oid: row.text('oid') },
    }));
    const isAsKnown = found?.isChanged === false && isOf(found.facts, known.databaseId);
    return isAsKnown ? found.begun : undefined;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    // Anything else may be over by the next connection.
    if (NOT_ALLOWED.has(error.code ?? '')) oneByOne.add(known);
    return undefined;
  }
}

function begunOf(row: Columns): Begun {
  return {
    pid: row.int('pid'),
    server: { startedAt: row.text('started_at'), isStandby: row.bool('is_standby') },
  };
}
