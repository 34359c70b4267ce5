import type { Columns } from '../statement.ts';

const ENDED_REASONS = ['revoked', 'currency'] as const;

export type EndedReason = (typeof ENDED_REASONS)[number];

/** A session as PostgreSQL holds it; `over` is judged by its clock. */
export interface SessionRow {
  readonly id: string;
  readonly player_id: string;
  readonly operator_id: string;
  readonly currency: string;
  readonly token_hash: Buffer;
  readonly operator_token: Buffer;
  readonly token: string | undefined;
  readonly sealed_token: Buffer | undefined;
  readonly ordinal: number;
  readonly expires_at: Date;
  readonly ended_reason: EndedReason | undefined;
  readonly expired: boolean;
  readonly user_id: string;
  readonly operator_user: string;
}

/** The newest session of a kind, and what the request that asks has to do with it. */
interface NewestSession extends SessionRow {
  /** Whether this very request was given the session before. */
  readonly was_given: boolean;
  /** Whether it was given one of the same kind that was revoked since. */
  readonly was_revoked: boolean;
}

export interface KindOfSession {
  /** Undefined where none is on record. */
  readonly newest: NewestSession | undefined;
  /** The highest that a session of this kind may have had, also one that was pruned: 0 for none. */
  readonly lastOrdinal: number;
}

/** A request for a session that could be sent again, by whoever has seen it. */
export interface RepeatableRequest {
  /** SHA-256 of what it says. */
  readonly hash: Buffer;
  /** It is refused some minutes after the time that it names. */
  readonly saysWhen: boolean;
}

export interface NewSession {
  readonly playerId: string;
  readonly operatorId: string;
  readonly currency: string;
  readonly tokenHash: Buffer;
  /** Only where it cannot be derived again. */
  readonly token: string | undefined;
  readonly operatorToken: Buffer;
  readonly operatorTokenHash: Buffer;
  readonly ordinal: number;
  readonly ttlSeconds: number;
  /** By the gateway: its token is made by nobody else. A prefixed one is the operator's own. */
  readonly isIssued: boolean;
  /** The request that opens it, where that could be sent again. */
  readonly givenTo?: RepeatableRequest | undefined;
}

/** @throws UnreadableRow */
export function sessionOf(row: Columns): SessionRow {
  return {
    id: row.text('id'),
    player_id: row.text('player_id'),
    operator_id: row.text('operator_id'),
    currency: row.text('currency'),
    token_hash: row.bytes('token_hash'),
    operator_token: row.bytes('operator_token'),
    token: row.textOrNull('token'),
    sealed_token: row.bytesOrNull('sealed_token'),
    ordinal: row.int('ordinal'),
    expires_at: row.date('expires_at'),
    ended_reason: row.oneOfOrNull('ended_reason', ENDED_REASONS),
    expired: row.bool('expired'),
    user_id: row.text('user_id'),
    operator_user: row.text('operator_user'),
  };
}
