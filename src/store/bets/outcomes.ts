import { DatabaseError } from 'pg';
import type { BetChange } from '../../domain/conclude.ts';
import type { AfterAttempt, DeliveryPurpose } from '../../domain/delivery.ts';
import { GatewayError } from '../../domain/errors.ts';
import type { Answer } from '../../protocol/answers.ts';
import { Batcher } from '../batcher.ts';
import type { Database } from '../database.ts';
import type { AttemptRecord } from './attempt.ts';
import { FINISH } from './finish-statement.ts';
import type { NewDelivery } from './journal.ts';

/** What an attempt that began with a commit, or took a delivery, brought. */
export interface Outcome {
  readonly transactionId: string;
  readonly attemptId: string;
  readonly operationId: string;
  readonly attempt: AttemptRecord;
  readonly change: BetChange;
  /** How long after now what stands is sent once more, where `change.late` says that it has to be. */
  readonly confirmAfterMs: number;
  readonly delivery: DeliveryOutcome;
  /** The caller that waits for it; undefined: nobody does. */
  readonly caller: OutcomeCaller | undefined;
}

export interface OutcomeCaller {
  /** PostgreSQL's time at which the caller has been answered otherwise. */
  readonly before: Date;
  /** What it is answered then: 100, 503, or the promise. */
  readonly lateAnswer: Answer;
}

/** What becomes of the delivery that guarded the attempt, or of a new promise. */
export type DeliveryOutcome =
  | { readonly kind: 'none' }
  /** Of the delivery that was taken, or that guarded the attempt within its callback. */
  | {
      readonly kind: 'after';
      readonly after: AfterAttempt;
      readonly purpose: DeliveryPurpose;
      /** Whether its attempt was counted when it was taken: a drain does, a callback does not. */
      readonly isCounted: boolean;
    }
  /** A promise made after a vain attempt; it takes no effect once the caller was answered. */
  | { readonly kind: 'new'; readonly delivery: NewDelivery; readonly retryInMs: number };

export type Finished =
  /** Committed in time: what was meant to be answered may be answered. */
  | { readonly kind: 'stands' }
  /** Committed after the caller's time: it has been answered otherwise, and that is on record. */
  | { readonly kind: 'late' }
  /** The attempt's lease had ended, and the bet is no longer its own. */
  | { readonly kind: 'lost' };

/** Writes what attempts brought and frees their bets, in batches: a backlog has many at once. */
export class BetOutcomes {
  readonly #finishes: Batcher<Outcome, Finished>;

  constructor(database: Database) {
    this.#finishes = new Batcher({
      concurrency: 2,
      waitingMax: 5_000,
      isRowError: (error: unknown) => error instanceof DatabaseError,
      refused: (why: string) => new GatewayError('DATABASE_UNAVAILABLE', why),
      run: (outcomes) => finish(database, outcomes),
    });
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written */
  finish(outcome: Outcome): Promise<Finished> {
    return this.#finishes.add(outcome);
  }
}

async function finish(
  database: Database,
  outcomes: readonly Outcome[],
): Promise<readonly Finished[]> {
  const rows = await database.run(FINISH, outcomes);
  const isLate = new Map(rows.map((row) => [row.attemptId, row.isLate]));
  return outcomes.map(({ attemptId }) => {
    const late = isLate.get(attemptId);
    if (late === undefined) return { kind: 'lost' };
    return { kind: late ? 'late' : 'stands' };
  });
}
