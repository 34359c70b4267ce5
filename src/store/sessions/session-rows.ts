import type { BetOwner } from '../../domain/bet.ts';
import type { Columns } from '../sql/statement.ts';

const ENDED_REASONS = ['revoked', 'currency'] as const;

export type EndedReason = (typeof ENDED_REASONS)[number];

/** A row of `sessions`; `expired` is judged by PostgreSQL's clock. */
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

/** The newest session of a player, currency and operator token, and its relation to the present request. */
interface NewestSession extends SessionRow {
  /** Whether this same request was given the session before. */
  readonly was_given: boolean;
  /** Whether it was given a session of the same kind that has been revoked since. */
  readonly was_revoked: boolean;
}

export interface KindOfSession {
  /** Undefined if there is none. */
  readonly newest: NewestSession | undefined;
  /** The highest ordinal that any session of this kind may have had, pruned ones included; 0 for none. */
  readonly lastOrdinal: number;
}

/** A request for a session that could be replayed by anybody who has seen it. */
export interface RepeatableRequest {
  /** SHA-256 of its content. */
  readonly hash: Buffer;
  /** It names its time, and is refused some minutes after that. */
  readonly saysWhen: boolean;
}

/** A player by both ids: a failover may have lost the player, and given the first id to another one. */
export type CertainPlayer = Pick<BetOwner, 'playerId' | 'userId'>;

export interface NewSession {
  readonly player: CertainPlayer;
  readonly operatorId: string;
  readonly currency: string;
  readonly tokenHash: Buffer;
  /** Stored only if it cannot be derived again. */
  readonly token: string | undefined;
  readonly operatorToken: Buffer;
  readonly operatorTokenHash: Buffer;
  readonly ordinal: number;
  readonly ttlSeconds: number;
  /** Whether the gateway made the token; a prefixed token is the operator's own. */
  readonly isIssued: boolean;
  /** The request that opens it, if it could be replayed. */
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
