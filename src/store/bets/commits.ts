import { DatabaseError } from 'pg';
import type { Deadline } from '../../domain/deadline.ts';
import type { Database } from '../database.ts';
import type { DatabaseClock } from '../server/database-clock.ts';
import { Batcher } from '../sql/batcher.ts';
import { BATCHING } from '../sql/batching.ts';
import { withRepeats } from '../sql/unreported-commit.ts';
import { operationsBegun } from './begun-operations.ts';
import type { Commit, Committed } from './commit.ts';
import {
  COMMIT_CHANGE,
  COMMIT_NEW,
  COMMIT_PLACE,
  type LimitedCommit,
} from './commit-statements.ts';
import { type Locked, whenFree } from './locked-row.ts';

type Written = Committed | Locked;

const LOCK_NOT_AVAILABLE = '55P03';

/** Writes decisions; those on existing bets in batches, because results come by the thousand when a match ends. */
export class BetCommits {
  readonly #database: Database;
  readonly #clock: DatabaseClock;
  readonly #changes: Batcher<LimitedCommit, Written>;

  constructor(database: Database, clock: DatabaseClock) {
    this.#database = database;
    this.#clock = clock;
    this.#changes = new Batcher({
      ...BATCHING,
      bytesOf: ({ commit }) => commit.record.body.length,
      run: (commits) => withRepeats(() => this.#write(COMMIT_CHANGE, commits)),
    });
  }

  /**
   * @param deadline of the waiting caller; undefined if nobody waits
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the decision may or may not be written
   */
  async commit(commit: Commit, deadline: Deadline | undefined): Promise<Committed> {
    const before = deadline && (await this.#clock.limitOf(deadline));
    const limited = { commit, before };
    return await whenFree(() => {
      if (commit.from.version === 0) return withRepeats(() => this.#begin(limited));
      return commit.record.operation === 'place'
        ? withRepeats(() => this.#one(COMMIT_PLACE, limited))
        : this.#changes.add(limited);
    });
  }

  async #begin(limited: LimitedCommit): Promise<Written> {
    try {
      return await this.#one(COMMIT_NEW, limited);
    } catch (error) {
      if (error instanceof DatabaseError && error.code === LOCK_NOT_AVAILABLE) {
        return { kind: 'locked' };
      }
      throw error;
    }
  }

  async #one(statement: typeof COMMIT_CHANGE, limited: LimitedCommit): Promise<Written> {
    const [written] = await this.#write(statement, [limited]);
    return written ?? { kind: 'moved' };
  }

  async #write(
    statement: typeof COMMIT_CHANGE,
    commits: readonly LimitedCommit[],
  ): Promise<readonly Written[]> {
    const rows = await this.#database.run(statement, commits);
    const written = new Map(rows.map((row) => [row.attemptId, row]));
    const keys = commits.map(({ commit: { to, record } }) => {
      return { transactionId: to.transactionId, attemptId: record.attemptId };
    });
    const begun = await operationsBegun(this.#database, keys, rows);
    return keys.map(({ attemptId }) => {
      const row = written.get(attemptId);
      const operationId = begun.get(attemptId);
      if (operationId !== undefined) return { kind: 'committed', operationId };
      if (row?.isLate === true) return { kind: 'tooLate' };
      // Another process was faster, or a session outside the gateway holds a lock.
      return { kind: row?.isLocked === true ? 'locked' : 'moved' };
    });
  }
}
