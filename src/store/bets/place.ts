import type { PlaceState } from '../../domain/bet.ts';
import type { Answer } from '../../protocol/answers.ts';
import type { AttemptRecord } from './attempt-record.ts';

export interface PlaceIntent {
  readonly transactionId: string;
  /** This attempt's id: only the attempt recorded in the bet's row may send or finish (I6). */
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
  /** Set if the place will not be sent: recorded as final, with this answer to the service. */
  readonly notSent: Answer | undefined;
}

export type PlaceBegin =
  /** The intent is committed and ours: it may be sent. */
  | { readonly kind: 'begun'; readonly operationId: string }
  /** There already is a row of this `transactionId`. */
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
  /** What the caller is answered once its time is over. */
  readonly lateAnswer: Answer;
}

/** With the time by PostgreSQL's clock from which the caller has got another answer. */
export type Limited<T> = T & { readonly before: Date };
