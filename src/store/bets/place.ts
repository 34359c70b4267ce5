import type { PlaceState } from '../../domain/bet.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { AttemptRecord } from './attempt-record.ts';

export interface PlaceIntent {
  readonly transactionId: string;
  /** Only the attempt recorded in the bet's row under this id may send or finish (I6). */
  readonly attemptId: string;
  readonly operatorId: string;
  readonly playerId: string;
  readonly sessionId: string;
  /** Of the session's token. */
  readonly tokenHash: Buffer;
  readonly amount: string;
  readonly currency: string;
  readonly generation: number;
  readonly requestId: string | undefined;
  readonly body: Buffer;
  /** Set if the place is not sent: recorded as final, with this answer. */
  readonly notSent: Answer | undefined;
}

export type PlaceBegin =
  /** The intent is committed and ours: it may be sent. */
  | { readonly kind: 'begun'; readonly operationId: string }
  /** A row with this `transactionId` exists. */
  | { readonly kind: 'known' }
  /** The session ended or expired, or its wallet was replaced by a newer one: nothing was written. */
  | { readonly kind: 'sessionOver' }
  /** The caller's time was over by PostgreSQL's clock: nothing was written (I11). */
  | { readonly kind: 'tooLate' };

export interface PlaceResult {
  readonly transactionId: string;
  readonly attemptId: string;
  readonly operationId: string;
  readonly place: PlaceState;
  readonly attempt: AttemptRecord;
  /** The caller's answer once its time is over. */
  readonly lateAnswer: Answer;
}

/** From `before`, by PostgreSQL's clock, the caller has another answer. */
export type Limited<T> = T & { readonly before: Date };
