import type { Bet, BetOwner } from '../../domain/bet.ts';
import { DELIVERY_PURPOSES, type DeliveryPurpose } from '../../domain/delivery.ts';
import { DELIVERABLE_OPERATIONS, type DeliverableOperation } from '../../domain/operation.ts';
import { lateOf, placeOf, rollbackOf, settlementOf } from '../bets/rows.ts';
import { type Columns, UnreadableRow } from '../sql/statement.ts';

/** A delivery that this process has claimed, with everything its call needs. */
export interface TakenDelivery {
  readonly id: string;
  readonly operation: DeliverableOperation;
  readonly purpose: DeliveryPurpose;
  readonly transactionId: string;
  readonly operationId: string;
  /** Identifies this attempt in the bet's row: only the attempt recorded there may finish. */
  readonly attemptId: string;
  /** Including this one. */
  readonly attempts: number;
  /** It was a dead letter that a person decided to send again. */
  readonly isSentOnceMore: boolean;
  /** Its horizon is over: this attempt is the last one. */
  readonly isOverdue: boolean;
  readonly createdAt: Date;
  /** When the promise was made: the time in the answer to the service. */
  readonly transactionTime: string;
  /** As the service sent it. */
  readonly body: Buffer;
  readonly owner: BetOwner;
  readonly sessionId: string | undefined;
  /** The operator's token of that session, as it is stored, with the hash that it is bound to. */
  readonly sealedToken: { readonly sealed: Buffer; readonly tokenHash: Buffer } | undefined;
  /** The bet as it stood when it was claimed. */
  readonly bet: Pick<Bet, 'amount' | 'currency' | 'place' | 'settlement' | 'rollback' | 'late'>;
}

/** A claimed delivery with a value that this release does not know: nothing is sent, and its lease lapses. */
export interface UnreadableDelivery {
  readonly id: string;
  readonly transactionId: string;
  readonly error: UnreadableRow;
}

/** Decodes a claimed row. One unreadable row must not fail the claim of the others. */
export function claimedOf(row: Columns): {
  readonly taken?: TakenDelivery;
  readonly unreadable?: UnreadableDelivery;
} {
  try {
    return { taken: takenOf(row) };
  } catch (error) {
    if (!(error instanceof UnreadableRow)) throw error;
    return {
      unreadable: { id: row.text('id'), transactionId: row.text('transaction_id'), error },
    };
  }
}

function takenOf(row: Columns): TakenDelivery {
  return {
    id: row.text('id'),
    operation: row.oneOf('operation', DELIVERABLE_OPERATIONS),
    purpose: row.oneOf('purpose', DELIVERY_PURPOSES),
    transactionId: row.text('transaction_id'),
    operationId: row.text('operation_id'),
    attemptId: row.text('attempt_id'),
    attempts: row.int('attempts'),
    isSentOnceMore: row.bool('sent_once_more'),
    isOverdue: row.bool('overdue'),
    createdAt: row.date('created_at'),
    transactionTime: row.text('transaction_time'),
    body: row.bytes('body'),
    owner: {
      operatorId: row.text('operator_id'),
      playerId: row.text('player_id'),
      userId: row.text('user_id'),
      operatorUser: row.text('operator_user'),
    },
    sessionId: row.textOrNull('session_id'),
    sealedToken: sealedTokenOf(row),
    bet: {
      amount: row.textOrNull('amount'),
      currency: row.textOrNull('currency'),
      place: placeOf(row),
      settlement: settlementOf(row),
      rollback: rollbackOf(row),
      late: lateOf(row),
    },
  };
}

function sealedTokenOf(row: Columns): TakenDelivery['sealedToken'] {
  const sealed = row.bytesOrNull('operator_token');
  const tokenHash = row.bytesOrNull('token_hash');
  return sealed === undefined || tokenHash === undefined ? undefined : { sealed, tokenHash };
}
