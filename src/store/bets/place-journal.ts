import { DatabaseError } from 'pg';
import type { PlaceState } from '../../domain/bet.ts';
import type { Deadline } from '../../domain/deadline.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Answer } from '../../protocol/answers.ts';
import { Batcher } from '../batcher.ts';
import type { Database } from '../database.ts';
import type { DatabaseClock } from '../database-clock.ts';
import { withRepeats } from '../unreported-commit.ts';
import type { AttemptRecord } from './attempt.ts';
import type { Finished } from './outcomes.ts';
import { BEGIN, FINISH, LOOK_UP_BEGUN, LOOK_UP_FINISHED } from './place-statements.ts';

export interface PlaceIntent {
  readonly transactionId: string;
  /** This attempt's own id: only the attempt written in the bet's row may send or finish (I6). */
  readonly attemptId: string;
  readonly operatorId: string;
  readonly playerId: string;
  readonly sessionId: string;
  readonly amount: string;
  readonly currency: string;
  readonly generation: number;
  readonly requestId: string | undefined;
  readonly body: Buffer;
  /** Set where the place will not be sent: recorded as final, with what the service is told. */
  readonly notSent: Answer | undefined;
}

export type PlaceBegin =
  /** The intent is committed and ours: it may be sent. */
  | { readonly kind: 'begun'; readonly operationId: string }
  /** Some row of this `transactionId` was first. */
  | { readonly kind: 'known' }
  /** The session ended or expired: nothing was written. */
  | { readonly kind: 'sessionOver' }
  /** The caller's time was over by PostgreSQL's clock: nothing was written (I11). */
  | { readonly kind: 'tooLate' };

export interface PlaceOutcome {
  readonly transactionId: string;
  readonly attemptId: string;
  readonly operationId: string;
  readonly place: PlaceState;
  readonly attempt: AttemptRecord;
  /** What the caller is answered once its time is over. */
  readonly lateAnswer: Answer;
}

/** With PostgreSQL's time at which the caller has been answered otherwise. */
export type Limited<T> = T & { readonly before: Date };

/** The hot path of the journal: intents and outcomes of places, written in batches (I3). */
export class PlaceJournal {
  readonly #clock: DatabaseClock;
  readonly #begins: Batcher<Limited<PlaceIntent>, PlaceBegin>;
  readonly #finishes: Batcher<Limited<PlaceOutcome>, Finished>;

  constructor(database: Database, clock: DatabaseClock) {
    this.#clock = clock;
    const shared = {
      concurrency: 2,
      waitingMax: 5_000,
      isRowError: (error: unknown) => error instanceof DatabaseError,
      refused: (why: string) => new GatewayError('DATABASE_UNAVAILABLE', why),
    };
    this.#begins = new Batcher({
      ...shared,
      run: (intents) => withRepeats(() => begin(database, intents)),
    });
    this.#finishes = new Batcher({
      ...shared,
      run: (outcomes) => withRepeats(() => finish(database, outcomes)),
    });
  }

  /**
   * Commits the intent of a place, or says why not. The session is checked in the same statement,
   * so a revocation that was committed before is never overlooked.
   * @param deadline of the caller: once it is over by PostgreSQL's clock, nothing is written
   * @param isWanted false once the caller gave up; an intent not yet sent is then dropped
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the intent may or may not be written
   */
  async begin(
    intent: PlaceIntent,
    deadline: Deadline,
    isWanted: () => boolean,
  ): Promise<PlaceBegin> {
    if (!this.#clock.isKnown) await this.#clock.limitOf(deadline);
    const before = this.#clock.limitNow(deadline);
    return await this.#begins.add({ ...intent, before }, isWanted);
  }

  /**
   * Commits the outcome of a place that this attempt began. Once the caller's time is over, it is
   * committed as one that was answered `lateAnswer`.
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written
   */
  async finish(outcome: PlaceOutcome, deadline: Deadline): Promise<Finished> {
    const before = this.#clock.limitNow(deadline);
    return await this.#finishes.add({ ...outcome, before });
  }
}

async function begin(
  database: Database,
  intents: readonly Limited<PlaceIntent>[],
): Promise<readonly PlaceBegin[]> {
  const rows = await database.run(BEGIN, intents);
  const begun = new Map(rows.map((row) => [row.attemptId, row]));
  const doubtful = intents.filter(({ attemptId }) => {
    return begun.get(attemptId)?.operationId === undefined;
  });
  // Our own intents of an earlier try whose commit was not reported.
  const mine = doubtful.length === 0 ? [] : await database.run(LOOK_UP_BEGUN, doubtful);
  const found = new Map(mine.map((row) => [row.attemptId, row.operationId]));
  return intents.map(({ attemptId }) => {
    const row = begun.get(attemptId);
    const operationId = row?.operationId ?? found.get(attemptId);
    if (operationId !== undefined) return { kind: 'begun', operationId };
    if (row?.isLate === true) return { kind: 'tooLate' };
    return { kind: row?.isLive === true ? 'known' : 'sessionOver' };
  });
}

async function finish(
  database: Database,
  outcomes: readonly Limited<PlaceOutcome>[],
): Promise<readonly Finished[]> {
  const written = await database.run(FINISH, outcomes);
  const isLate = new Map(written.map((row) => [row.attemptId, row.isLate]));
  const doubtful = outcomes.filter(({ attemptId }) => !isLate.has(attemptId));
  if (doubtful.length > 0) {
    // Our own outcomes of an earlier try whose commit was not reported.
    const before = await database.run(LOOK_UP_FINISHED, doubtful);
    for (const row of before) isLate.set(row.attemptId, row.isLate);
  }
  return outcomes.map(({ attemptId }) => {
    const late = isLate.get(attemptId);
    if (late === undefined) return { kind: 'lost' };
    return { kind: late ? 'late' : 'stands' };
  });
}
