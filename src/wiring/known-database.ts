import { TokenBuckets } from '../lib/token-bucket.ts';
import type { KnownDatabase } from '../store/server/on-connect.ts';
import { ServerRuns } from '../store/server/server-runs.ts';
import type { Base } from './parts.ts';

/** At most one log line a minute: a pool tries to connect again for each callback. */
const CONNECTION_LINES = { perSecond: 1 / 60, burst: 1 };

/** What this process knows about its database, and what it logs when connections are refused. */
export function knownDatabase({ databaseId, clock, logger }: Base): {
  readonly known: KnownDatabase;
  readonly onRefused: (error: Error) => void;
} {
  const lines = new TokenBuckets(clock, CONNECTION_LINES);
  const known: KnownDatabase = {
    databaseId,
    runs: new ServerRuns(),
    onUnsuitable: ({ message }) => {
      if (lines.take('unsuitable') > 0) return;
      logger.error({ note: `PostgreSQL ${message}` }, 'postgresql.unsuitable');
    },
  };
  const onRefused = ({ message }: Error) => {
    if (lines.take('refused') > 0) return;
    const note = `PostgreSQL gives no further connection (${message}): callbacks wait for those that this process has`;
    logger.warn({ note }, 'postgresql.no_further_connection');
  };
  return { known, onRefused };
}
