import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database.ts';
import { type Parameters, statement } from '../sql/statement.ts';
import type { ServerFound } from './server-runs.ts';

/** Something that PostgreSQL has reported as committed. */
export interface ReportedCommit {
  /** The operation that it began, or whose attempt's outcome it recorded. */
  readonly operationId: string;
  /** When that attempt was handed over, in epoch milliseconds; undefined: it began the operation. */
  readonly startedAtMs: number | undefined;
}

/** A bonus API call whose intent PostgreSQL has reported as committed. */
export interface ReportedCall {
  readonly intentId: string;
}

/** The result of a check in which the last commits were not all found. */
export type Missed =
  | { readonly kind: 'lost'; readonly commit: ReportedCommit | ReportedCall }
  /** PostgreSQL did not tell. */
  | { readonly kind: 'unknown'; readonly error: unknown };

interface Noted {
  readonly commit: ReportedCommit | ReportedCall;
  readonly atMs: number;
}

/** The methods that note commits. */
export type CommitNotes = Pick<LastCommits, 'began' | 'finished'>;
export type CallNotes = Pick<LastCommits, 'called'>;

/** Older commits may have been pruned from the journal, and a loss of a whole day is noticed anyway. */
const LOOKED_FOR_MS = 24 * 60 * 60_000;
/** Delays before each try: a server that has just started may disappear again. */
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
 * Notices that PostgreSQL has lost what it had reported as committed (I3): by a failover to a standby that was
 * behind, a restore, a disk that had not written. Nothing else would notice, and people must correct what is lost
 * (docs/operations.md, Disaster recovery).
 *
 * This process's last commits are looked for whenever it finds another run of the server. If they are there, so are
 * all earlier ones: a server loses the end of its log, never a part in the middle.
 */
export class LastCommits {
  readonly #database: () => Pick<Database, 'run'>;
  readonly #onMissed: (missed: Missed) => void;
  /** The last that began an operation, the last outcome, and the last bonus call. */
  readonly #noted = new Map<'began' | 'finished' | 'called', Noted>();
  /** Commits from before a standby was found: once that accepts writes, it may lack them. */
  readonly #beforeStandby = new Set<Noted>();
  readonly #lookAfterMs: readonly number[];
  #startedAt: string | undefined;

  /**
   * @param onMissed called once for a loss, with one of the lost commits
   * @param lookAfterMs how long to wait before each try
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

  /** PostgreSQL has reported the commit of a bonus call's intent: at night there may be no other commits. */
  called(intentId: string): void {
    this.#noted.set('called', { commit: { intentId }, atMs: performance.now() });
  }

  /**
   * A new connection leads to this server. A standby may only be behind; but it may accept writes before the next
   * connection shows that, and commits noted by then must not hide earlier ones.
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
      // A loss is reported once.
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
