import type { ClientBase } from 'pg';
import { clientRows } from './client-rows.ts';
import { refuseOtherDatabase } from './database-identity.ts';
import type { ServerFound, ServerRuns } from './server-runs.ts';
import { refuseChangedTextOrder } from './text-order.ts';
import { UnsuitableServer } from './unsuitable-server.ts';

/**
 * The connection keeps the value that it begins with, whatever a reload of the server's configuration says afterwards;
 * `off` it does not keep. The others are the server's to choose: some of them promise more than `on`.
 *
 * What is idle is ours to end: the server would take it in the moment in which a call begins on it, and from what waits for
 * the next piece of a list. Each statement is a transaction with a limit of time of its own; one of transactions would end
 * the connection with it. Neither is asked for where the connection starts: servers before 17, and before 14, do not know
 * them, and would refuse it before anybody can say that they are too old.
 */
const BEGIN_WITH = `
  SELECT set_config('synchronous_commit', CASE said WHEN 'off' THEN 'on' ELSE said END, false),
         set_config('idle_session_timeout', '0', false),
         CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
              THEN set_config('transaction_timeout', '0', false) END,
         extract(epoch FROM pg_postmaster_start_time())::text AS started_at, pg_is_in_recovery() AS is_standby
    FROM current_setting('synchronous_commit') AS said`;

/** What a process that goes on for long knows about its database. */
export interface KnownDatabase {
  /** What its start found (`databaseId`): a connection that leads to another one is refused. */
  readonly databaseId: string;
  /** Told of each new connection, and asked before one is used again. */
  readonly runs: ServerRuns;
  /** Told of the server at each new connection. */
  readonly onServer: (server: ServerFound) => void;
  /** Told of each connection that is refused for what its server is. */
  readonly onUnsuitable: (error: UnsuitableServer) => void;
}

/**
 * What each connection goes through before anything is sent on it. A start refuses a server that does not
 * wait for its commits (`server-check.ts`); a process that runs would not notice, and would answer bets 200 that a
 * crash forgets (I3).
 *
 * A pool waits for the promise, which its types do not say.
 *
 * @param known default: nothing, as for a command that has just been started
 */
export function connectionChecks(known?: KnownDatabase): {
  /** @throws UnsuitableServer. @throws Error of `pg` */
  readonly onConnect: (client: ClientBase) => Promise<void>;
} {
  return {
    onConnect: async (client) => {
      try {
        const server = await serverOf(client, known);
        known?.runs.found(client, server);
        known?.onServer(server);
      } catch (error) {
        if (error instanceof UnsuitableServer) known?.onUnsuitable(error);
        throw error;
      }
    },
  };
}

async function serverOf(
  client: ClientBase,
  known: KnownDatabase | undefined,
): Promise<ServerFound> {
  await refuseChangedTextOrder(client);
  if (known !== undefined) await refuseOtherDatabase(client, known.databaseId);
  const [server] = await clientRows(client, BEGIN_WITH, [], (row) => ({
    startedAt: row.text('started_at'),
    isStandby: row.bool('is_standby'),
  }));
  if (server === undefined) throw new UnsuitableServer('does not say how it is set up');
  return server;
}
