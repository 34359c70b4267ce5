import type { ClientBase } from 'pg';
import { refuseChangedTextOrder } from './text-order.ts';

/**
 * The connection keeps the value that it begins with, whatever a reload of the server's configuration says afterwards;
 * `off` it does not keep. The others are the server's to choose: some of them promise more than `on`.
 */
const WAIT_FOR_COMMITS = `
  SELECT set_config('synchronous_commit', CASE said WHEN 'off' THEN 'on' ELSE said END, false)
    FROM current_setting('synchronous_commit') AS said`;

/**
 * What each connection goes through before anything is sent on it. A start refuses a server that does not
 * wait for its commits (`server-check.ts`); a process that runs would not notice, and would answer bets 200 that a
 * crash forgets (I3).
 *
 * A pool waits for the promise, which its types do not say.
 */
export const ON_CONNECT = {
  onConnect: async (client: ClientBase): Promise<void> => {
    await refuseChangedTextOrder(client);
    await client.query(WAIT_FOR_COMMITS);
  },
} as const;
