import type { Deadline } from '../../domain/deadline.ts';
import { GatewayError } from '../../domain/errors.ts';
import { isPlaceMissed } from '../../domain/finish.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { Database } from '../database.ts';
import type { DatabaseClock } from '../server/database-clock.ts';
import { Batcher } from '../sql/batcher.ts';
import { BATCHING } from '../sql/batching.ts';
import { withRepeats, writeLater } from '../sql/unreported-commit.ts';
import { operationsBegun } from './begun-operations.ts';
import { becameOf, type Locked, whenFree } from './locked-row.ts';
import type { Finished } from './outcome.ts';
import type { Limited, PlaceBegin, PlaceIntent, PlaceResult } from './place.ts';
import { BEGIN, type DecidedPlace, FINISH_PLACES, LOOK_UP_FINISHED } from './place-statements.ts';

/** The hot path of the journal: intents and outcomes of places, written in batches (I3). */
export class PlaceJournal {
  readonly #clock: DatabaseClock;
  readonly #begins: Batcher<Limited<PlaceIntent>, PlaceBegin>;
  readonly #finishes: Batcher<DecidedPlace, Finished | Locked>;

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
   * Commits a place's intent, or says why not. The same statement checks the session, so that no revocation is missed.
   * @param deadline of the caller: once it is over by PostgreSQL's clock, nothing is written
   * @param isWanted false once the caller gave up; an intent not sent by then is dropped
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
   * Commits the outcome of this attempt's place; after the caller's time, with `lateAnswer` as its answer.
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written, and may still be written as a
   *   late one while its attempt owns the bet
   */
  async finish(outcome: PlaceResult, deadline: Deadline): Promise<Finished> {
    const before = this.#clock.limitNow(deadline);
    try {
      const written = await this.#write({ ...outcome, before, placeAnsweredUnknown: false });
      return written.kind === 'late' ? await this.#finishLate(outcome) : written;
    } catch (error) {
      if (error instanceof GatewayError) void writeLater(() => this.#finishLate(outcome));
      throw error;
    }
  }

  async #finishLate({ attempt, lateAnswer, ...outcome }: PlaceResult): Promise<Finished> {
    const written = await this.#write({
      ...outcome,
      lateAnswer,
      attempt: { ...attempt, answer: lateAnswer },
      before: undefined,
      placeAnsweredUnknown: isPlaceMissed(outcome.place),
    });
    return written.kind === 'committed' ? { kind: 'late' } : written;
  }

  async #write(outcome: DecidedPlace): Promise<Finished> {
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
  outcomes: readonly DecidedPlace[],
): Promise<readonly (Finished | Locked)[]> {
  const written = becameOf(outcomes, await database.run(FINISH_PLACES, outcomes));
  const unwritten = outcomes.filter((_, at) => written[at]?.kind === 'unwritten');
  // An earlier try may have committed our outcomes without a reply.
  const looked = unwritten.length === 0 ? [] : await database.run(LOOK_UP_FINISHED, unwritten);
  const before = new Map(looked.map((row) => [row.attemptId, row]));
  return outcomes.map(({ attemptId }, at) => {
    const { kind } = written[at] ?? { kind: 'unwritten' };
    switch (kind) {
      case 'written':
        return { kind: 'committed' };
      case 'late':
      case 'locked':
        return { kind };
      case 'unwritten': {
        const known = before.get(attemptId);
        if (known === undefined) return { kind: 'lost' };
        return { kind: known.isLate ? 'late' : 'committed' };
      }
      default:
        return unreachable(kind);
    }
  });
}
