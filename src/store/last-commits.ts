import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from './database.ts';
import type { ServerFound } from './server-runs.ts';
import { type Parameters, statement } from './statement.ts';

/** Something that PostgreSQL has reported as committed. */
export interface ReportedCommit {
  /** Of the operation that it began, or of whose attempt it is the outcome. */
  readonly operationId: string;
  /** When that attempt was handed over, in epoch milliseconds; undefined: it began the operation. */
  readonly startedAtMs: number | undefined;
}

/** A call of the bonus API that PostgreSQL has reported as written down. */
export interface ReportedCall {
  readonly intentId: string;
}

/** What became of the last commits, where it is not that they are there. */
export type Missed =
  | { readonly kind: 'lost'; readonly commit: ReportedCommit | ReportedCall }
  /** PostgreSQL did not tell. */
  | { readonly kind: 'unknown'; readonly error: unknown };

interface Noted {
  readonly commit: ReportedCommit | ReportedCall;
  readonly atMs: number;
}

/** Who notes what was committed. */
export type CommitNotes = Pick<LastCommits, 'began' | 'finished'>;
export type CallNotes = Pick<LastCommits, 'called'>;

/** Older ones may have been pruned from the journal, and who lost a day knows it. */
const LOOKED_FOR_MS = 24 * 60 * 60_000;
/** A server that has just come may go once more. */
const LOOK_AFTER_MS = [0, 1_000, 5_000, 15_000, 60_000];

const COMMIT: Parameters<ReportedCommit> = {
  operation_id: ['bigint', ({ operationId }) => operationId],
  started_at: [
    'timestamptz',
    ({ startedAtMs }) => (startedAtMs === undefined ? null : new Date(startedAtMs)),
  ],
};

const IS_THERE = statement(
  'last-commit-is-there',
  COMMIT,
  `
  SELECT CASE WHEN :started_at IS NULL
              THEN EXISTS (SELECT FROM operations o WHERE o.id = :operation_id)
              ELSE EXISTS (SELECT FROM attempts a
                            WHERE a.operation_id = :operation_id AND a.started_at = :started_at)
         END AS is_there`,
  (row) => row.bool('is_there'),
);

const IS_CALL_THERE = statement(
  'last-bonus-call-is-there',
  { intent_id: ['bigint', ({ intentId }: ReportedCall) => intentId] },
  'SELECT EXISTS (SELECT FROM bonus_intents WHERE id = :intent_id) AS is_there',
  (row) => row.bool('is_there'),
);

/**
 * Notices that PostgreSQL has forgotten what it had reported as committed (I3): by a failover to a standby that was
 * behind, a restore, a disk that had not written. Nothing else would tell, and what is lost is for people to put right
 * (docs/operations.md, Disaster recovery).
 *
 * The last commits of this process are looked for whenever it meets another run of the server. If they are there, so
 * is all before them: a server loses the end of its log, never a piece within.
 */
export class LastCommits {
  readonly #database: () => Pick<Database, 'run'>;
  readonly #onMissed: (missed: Missed) => void;
  /** The last that began an operation, the last outcome, and the last bonus call. */
  readonly #noted = new Map<'began' | 'finished' | 'called', Noted>();
  /** Those of before a standby was found: once it takes writes, it is the server that may lack them. */
  readonly #beforeStandby = new Set<Noted>();
  readonly #lookAfterMs: readonly number[];
  #startedAt: string | undefined;

  /**
   * @param onMissed told once of a loss, by one of the commits that it took
   * @param lookAfterMs how long to wait before each try to look
   */
  constructor(
    database: () => Pick<Database, 'run'>,
    onMissed: (missed: Missed) => void,
    lookAfterMs: readonly number[] = LOOK_AFTER_MS,
  ) {
    this.#database = database;
    this.#onMissed = onMissed;
    this.#lookAfterMs = lookAfterMs;
  }

  /** PostgreSQL has reported the commit that began this operation. */
  began(operationId: string): void {
    const commit = { operationId, startedAtMs: undefined };
    this.#noted.set('began', { commit, atMs: performance.now() });
  }

  /** PostgreSQL has reported the commit of an attempt's outcome. */
  finished(operationId: string, startedAtMs: number): void {
    this.#noted.set('finished', { commit: { operationId, startedAtMs }, atMs: performance.now() });
  }

  /** PostgreSQL has reported that a bonus call was written down: at night there may be nothing else. */
  called(intentId: string): void {
    this.#noted.set('called', { commit: { intentId }, atMs: performance.now() });
  }

  /**
   * A new connection leads to this server. A standby may just be behind; but it may take writes before the next
   * connection tells, and what is noted then must not hide what was noted before.
   */
  foundServer({ startedAt, isStandby }: ServerFound): void {
    if (startedAt === this.#startedAt) return;
    if (isStandby) {
      if (this.#beforeStandby.size > 0) return;
      for (const one of this.#noted.values()) this.#beforeStandby.add(one);
      return;
    }
    const isFirst = this.#startedAt === undefined;
    this.#startedAt = startedAt;
    const noted = new Set([...this.#beforeStandby, ...this.#noted.values()]);
    this.#beforeStandby.clear();
    if (!isFirst) void this.#lookFor([...noted]);
  }

  async #lookFor(noted: readonly Noted[]): Promise<void> {
    const since = performance.now() - LOOKED_FOR_MS;
    let told: Missed | undefined;
    for (const one of noted.filter(({ atMs }) => atMs > since)) {
      const missed = await this.#look(one.commit);
      told ??= missed;
      if (missed?.kind === 'unknown') break;
      // It is told of once.
      if (missed !== undefined) this.#forget(one);
    }
    if (told !== undefined) this.#onMissed(told);
  }

  #forget(lost: Noted): void {
    for (const [kind, one] of this.#noted) if (one === lost) this.#noted.delete(kind);
  }

  async #look(commit: Noted['commit']): Promise<Missed | undefined> {
    let failure: unknown;
    for (const pauseMs of this.#lookAfterMs) {
      await sleep(pauseMs, undefined, { ref: false });
      try {
        const database = this.#database();
        const [isThere] =
          'intentId' in commit
            ? await database.run(IS_CALL_THERE, commit)
            : await database.run(IS_THERE, commit);
        return isThere === true ? undefined : { kind: 'lost', commit };
      } catch (error) {
        failure = error;
      }
    }
    return { kind: 'unknown', error: failure };
  }
}
