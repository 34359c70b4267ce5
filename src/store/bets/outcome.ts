import type { Bet } from '../../domain/bet.ts';
import type { BetChange } from '../../domain/conclude.ts';
import type { AfterAttempt, DeliveryPurpose } from '../../domain/delivery.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { NewDelivery } from './commit.ts';

/** The outcome of an attempt that began with a commit or the claim of a delivery. */
export interface Outcome {
  readonly transactionId: string;
  /** As at the attempt's start; undefined: it is read first. */
  readonly bet: Bet | undefined;
  readonly attemptId: string;
  readonly operationId: string;
  readonly attempt: AttemptRecord;
  readonly change: BetChange;
  /** Milliseconds until the standing operation is confirmed, if `change.late` requires it. */
  readonly confirmAfterMs: number;
  readonly delivery: DeliveryOutcome;
  /** The waiting caller; undefined: nobody waits. */
  readonly caller: OutcomeCaller | undefined;
}

export interface OutcomeCaller {
  /** From this time by PostgreSQL's clock, the caller has another answer. */
  readonly before: Date;
  /** That answer: 100, 503, or the promise. */
  readonly lateAnswer: Answer;
}

/** The new state of the attempt's delivery, or a new promise. */
export type DeliveryOutcome =
  | { readonly kind: 'none' }
  /** For the claimed delivery, or the one that guarded the attempt inside its callback. */
  | {
      readonly kind: 'after';
      readonly after: AfterAttempt;
      readonly purpose: DeliveryPurpose;
      /** The `transactionTime` in the promise. */
      readonly promisedTime: string;
      /** A drain counts the attempt when it claims it, a callback does not. */
      readonly isCounted: boolean;
    }
  /** None is made for a caller who has been answered, but a dead letter always is: it answers nobody. */
  | { readonly kind: 'new'; readonly delivery: NewDelivery; readonly retryInMs: number };

export type Finished =
  /** Committed in time: the intended answer may be sent. */
  | { readonly kind: 'committed' }
  /** Committed after the caller's time: another answer was sent and is recorded. */
  | { readonly kind: 'late' }
  /** The attempt's lease had ended, and it no longer owns the bet. */
  | { readonly kind: 'lost' };
