import type { Bet } from '../../domain/bet.ts';
import type { BetChange } from '../../domain/conclude.ts';
import type { AfterAttempt, DeliveryPurpose } from '../../domain/delivery.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { NewDelivery } from './commit.ts';

/** The outcome of an attempt that began with a commit, or by claiming a delivery. */
export interface Outcome {
  readonly transactionId: string;
  /** As the attempt began with it; undefined: it is read first. */
  readonly bet: Bet | undefined;
  readonly attemptId: string;
  readonly operationId: string;
  readonly attempt: AttemptRecord;
  readonly change: BetChange;
  /** How long from now the standing operation is confirmed, if `change.late` requires it. */
  readonly confirmAfterMs: number;
  readonly delivery: DeliveryOutcome;
  /** The waiting caller; undefined: nobody waits. */
  readonly caller: OutcomeCaller | undefined;
}

export interface OutcomeCaller {
  /** The time by PostgreSQL's clock from which the caller has got another answer. */
  readonly before: Date;
  /** That answer: 100, 503, or the promise. */
  readonly lateAnswer: Answer;
}

/** What happens to the attempt's delivery, or a new promise. */
export type DeliveryOutcome =
  | { readonly kind: 'none' }
  /** For the delivery that was claimed, or that guarded the attempt inside its callback. */
  | {
      readonly kind: 'after';
      readonly after: AfterAttempt;
      readonly purpose: DeliveryPurpose;
      /** The `transactionTime` in the promise. */
      readonly promisedTime: string;
      /** Whether the attempt is already counted: a drain counts it when claiming, a callback does not. */
      readonly isCounted: boolean;
    }
  /**
   * A promise made after an unsuccessful attempt; it takes no effect once the caller has been
   * answered. A dead letter does: nobody is answered 200 for it.
   */
  | { readonly kind: 'new'; readonly delivery: NewDelivery; readonly retryInMs: number };

export type Finished =
  /** Committed in time: the intended answer may be sent. */
  | { readonly kind: 'committed' }
  /** Committed after the caller's time: another answer was sent and is on record. */
  | { readonly kind: 'late' }
  /** The attempt's lease had ended, and it no longer owns the bet. */
  | { readonly kind: 'lost' };
