import { unreachable } from '../domain/unreachable.ts';
import { TokenBuckets } from '../lib/token-bucket.ts';
import type { Database } from '../store/database.ts';
import {
  LastCommits,
  type Missed,
  type ReportedCall,
  type ReportedCommit,
} from '../store/server/last-commits.ts';
import type { KnownDatabase } from '../store/server/on-connect.ts';
import { ServerRuns } from '../store/server/server-runs.ts';
import type { Base } from './parts.ts';

/** At most one log line a minute: a pool tries to connect again for each callback. */
const CONNECTION_LINES = { perSecond: 1 / 60, burst: 1 };

/** What this process knows about its database, and what it logs when that changes or when connections are refused. */
export function knownDatabase(
  { databaseId, clock, logger, metrics }: Base,
  database: () => Database,
): {
  readonly known: KnownDatabase;
  readonly lastCommits: LastCommits;
  readonly onRefused: (error: Error) => void;
} {
  const lastCommits = new LastCommits(database, (missed) =>
    tellMissed({ logger, metrics }, missed),
  );
  const lines = new TokenBuckets(clock, CONNECTION_LINES);
  const known: KnownDatabase = {
    databaseId,
    runs: new ServerRuns(),
    onServer: (server) => lastCommits.foundServer(server),
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
  return { known, lastCommits, onRefused };
}

function tellMissed({ logger, metrics }: Pick<Base, 'logger' | 'metrics'>, missed: Missed): void {
  switch (missed.kind) {
    case 'lost': {
      metrics.commitsLost.inc();
      const { commit } = missed;
      const note =
        `PostgreSQL had reported ${wordsOf(commit)} as committed, and has forgotten it: ` +
        'what it lost is for people to put right (docs/runbooks/commits-lost.md)';
      logger.error(
        'intentId' in commit
          ? { intentId: commit.intentId, note }
          : { operationId: commit.operationId, note },
        'postgresql.commits_lost',
      );
      return;
    }
    case 'unknown':
      logger.warn({ err: missed.error }, 'postgresql.last_commit_unknown');
      return;
    default:
      unreachable(missed);
  }
}

function wordsOf(commit: ReportedCommit | ReportedCall): string {
  if ('intentId' in commit) return `the bonus call ${commit.intentId}`;
  const what = commit.startedAtMs === undefined ? 'the beginning' : 'the outcome';
  return `${what} of operation ${commit.operationId}`;
}
