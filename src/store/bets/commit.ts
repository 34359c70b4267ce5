import type { Bet, ResultType } from '../../domain/bet.ts';
import type { BetOperation, DeliverableOperation } from '../../domain/operation.ts';
import type { Answer } from '../../protocol/answers.ts';

export interface OperationRecord {
  readonly operation: BetOperation;
  readonly attemptId: string;
  readonly requestId: string | undefined;
  /** As the service sent it, but with only the hash of its token. */
  readonly body: Buffer;
  /** The service's answer, if it is certain before any attempt. */
  readonly answer: Answer | undefined;
}

export interface NewDelivery {
  readonly operation: DeliverableOperation;
  readonly state: 'live' | 'pending' | 'dead';
  /** The time in the service's answer, if that is the promise. */
  readonly transactionTime: string;
  readonly horizonMs: number;
  readonly settle?: { readonly amount: string; readonly resultType: ResultType };
}

export interface Commit {
  /** As it was read: nothing is written if it has changed since. `version` 0: it is not in the journal yet. */
  readonly from: Bet;
  readonly to: Bet;
  readonly record: OperationRecord;
  readonly delivery: NewDelivery | undefined;
  /** Ids of the bet's deliveries that become obsolete. */
  readonly supersedes: readonly string[];
}

export type Committed =
  | { readonly kind: 'committed'; readonly operationId: string }
  /** The bet has changed since it was read: read and decide again. */
  | { readonly kind: 'moved' }
  /** The caller's time was over by PostgreSQL's clock: nothing was written (I11). */
  | { readonly kind: 'tooLate' };
