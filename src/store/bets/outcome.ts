import type { BetChange } from '../../domain/conclude.ts';
import type { AfterAttempt, DeliveryPurpose } from '../../domain/delivery.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { NewDelivery } from './commit.ts';

/** What an attempt that began with a commit, or took a delivery, brought. */
export interface Outcome {
  readonly transactionId: string;
  readonly attemptId: string;
  readonly operationId: string;
  readonly attempt: AttemptRecord;
  readonly change: BetChange;
  /** How long after now what stands is confirmed, if `change.late` says that it has to be. */
  readonly confirmAfterMs: number;
  readonly delivery: DeliveryOutcome;
  /** The caller that waits for it; undefined: nobody does. */
  readonly caller: OutcomeCaller | undefined;
}

export interface OutcomeCaller {
  /** PostgreSQL's time from which on the caller has been given another answer. */
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
  /**
   * A promise made after an attempt without success; it takes no effect once the caller was
   * answered.
   */
  | { readonly kind: 'new'; readonly delivery: NewDelivery; readonly retryInMs: number };

export type Finished =
  /** Committed in time: the intended answer may be sent. */
  | { readonly kind: 'committed' }
  /** Committed after the caller's time: another answer was sent, and that is on record. */
  | { readonly kind: 'late' }
  /** The attempt's lease had ended, and the bet is no longer its own. */
  | { readonly kind: 'lost' };
