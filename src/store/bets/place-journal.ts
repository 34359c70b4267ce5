import type { Deadline } from '../../domain/deadline.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Database } from '../database.ts';
import type { DatabaseClock } from '../server/database-clock.ts';
import { Batcher } from '../sql/batcher.ts';
import { BATCHING } from '../sql/batching.ts';
import { LONG_AGO, withRepeats, writeLater } from '../sql/unreported-commit.ts';
import { operationsBegun } from './begun-operations.ts';
import { type Locked, whenFree } from './locked-row.ts';
import type { Finished } from './outcome.ts';
import type { Limited, PlaceBegin, PlaceIntent, PlaceResult } from './place.ts';
import { BEGIN, FINISH_PLACES, LOOK_UP_FINISHED } from './place-statements.ts';

/** The hot path of the journal: intents and outcomes of places, written in batches (I3). */
export class PlaceJournal {
  readonly #clock: DatabaseClock;
  readonly #begins: Batcher<Limited<PlaceIntent>, PlaceBegin>;
  readonly #finishes: Batcher<Limited<PlaceResult>, Finished | Locked>;

  constructor(database: Database, clock: DatabaseClock) {
    this.#clock = clock;
    this.#begins = new Batcher({
      ...BATCHING,
      bytesOf: ({ body }) => body.length,
      run: (intents) => withRepeats(() => begin(database, intents)),
    });
    this.#finishes = new Batcher({
      ...BATCHING,
      run: (outcomes) => withRepeats(() => finish(database, outcomes)),
    });
  }

  /**
   * Commits the intent of a place, or says why not. The session is checked in the same statement,
   * so a revocation that was committed before is never overlooked.
   * @param deadline of the caller: once it is over by PostgreSQL's clock, nothing is written
   * @param isWanted returns false once the caller gave up; an intent not yet sent is then dropped
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
   * committed with `lateAnswer` as its answer.
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written, and may still be
   *   written as a late one while its attempt owns the bet
   */
  async finish(outcome: PlaceResult, deadline: Deadline): Promise<Finished> {
    const before = this.#clock.limitNow(deadline);
    return await this.#finish({ ...outcome, before }).catch((error: unknown) => {
      const late = { ...outcome, before: LONG_AGO };
      if (error instanceof GatewayError) void writeLater(() => this.#finish(late));
      throw error;
    });
  }

  async #finish(outcome: Limited<PlaceResult>): Promise<Finished> {
    return await whenFree(() => this.#finishes.add(outcome));
  }
}

async function begin(
  database: Database,
  intents: readonly Limited<PlaceIntent>[],
): Promise<readonly PlaceBegin[]> {
  const rows = await database.run(BEGIN, intents);
  const begun = new Map(rows.map((row) => [row.attemptId, row]));
  const operations = await operationsBegun(database, intents, rows);
  return intents.map(({ attemptId }) => {
    const row = begun.get(attemptId);
    const operationId = operations.get(attemptId);
    if (operationId !== undefined) return { kind: 'begun', operationId };
    if (row?.isLate === true) return { kind: 'tooLate' };
    return { kind: row?.isLive === true ? 'known' : 'sessionOver' };
  });
}

async function finish(
  database: Database,
  outcomes: readonly Limited<PlaceResult>[],
): Promise<readonly (Finished | Locked)[]> {
  const rows = await database.run(FINISH_PLACES, outcomes);
  const written = rows.filter(({ isFree }) => isFree);
  const locked = new Set(rows.filter(({ isFree }) => !isFree).map(({ attemptId }) => attemptId));
  const isLate = new Map(written.map((row) => [row.attemptId, row.isLate]));
  const doubtful = outcomes.filter(({ attemptId }) => !isLate.has(attemptId));
  if (doubtful.length > 0) {
    // An earlier try may have committed our outcomes without reporting it.
    const before = await database.run(LOOK_UP_FINISHED, doubtful);
    for (const row of before) isLate.set(row.attemptId, row.isLate);
  }
  return outcomes.map(({ attemptId }) => {
    const late = isLate.get(attemptId);
    if (late === undefined) return { kind: locked.has(attemptId) ? 'locked' : 'lost' };
    return { kind: late ? 'late' : 'committed' };
  });
}
