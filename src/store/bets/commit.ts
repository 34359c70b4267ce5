import type { Bet, ResultType } from '../../domain/bet.ts';
import type { BetOperation, DeliverableOperation } from '../../domain/operation.ts';
import type { Answer } from '../../protocol/answers.ts';

export interface OperationRecord {
  readonly operation: BetOperation;
  readonly attemptId: string;
  readonly requestId: string | undefined;
  /** As the service sent it, but for its token, of which only the hash is kept. */
  readonly body: Buffer;
  /** What the service is told, where that is certain before any attempt. */
  readonly answer: Answer | undefined;
}

export interface NewDelivery {
  readonly operation: DeliverableOperation;
  readonly state: 'live' | 'pending' | 'dead';
  /** What the service is told when the promise holds. */
  readonly transactionTime: string;
  readonly horizonMs: number;
  readonly settle?: { readonly amount: string; readonly resultType: ResultType };
}

export interface Commit {
  /** As it was read: written only if nothing moved since. `version` 0 is a bet not yet there. */
  readonly from: Bet;
  readonly to: Bet;
  readonly record: OperationRecord;
  readonly delivery: NewDelivery | undefined;
  /** Deliveries of this bet that have lost their meaning. */
  readonly supersedes: readonly string[];
}

export type Committed =
  | { readonly kind: 'committed'; readonly operationId: string }
  /** The bet is no longer as it was read: read and decide again. */
  | { readonly kind: 'moved' }
  /** The caller's time was over by PostgreSQL's clock: nothing was written (I11). */
  | { readonly kind: 'tooLate' };
