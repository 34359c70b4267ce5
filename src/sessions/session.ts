import type { BetOwner } from '../domain/bet.ts';
import { CODES } from '../domain/codes.ts';
import { unreachable } from '../domain/unreachable.ts';

/** One player, one currency, one token. All but its end is fixed when it opens. */
export interface Session {
  readonly sessionId: string;
  readonly owner: BetOwner;
  readonly currency: string;
  /** The token by which the operator's wallet knows the session. */
  readonly operatorToken: string;
  /** Wall clock, epoch milliseconds. */
  readonly expiresAtMs: number;
}

/** The result of looking up a token sent by the service. */
export type SessionLookup =
  | { readonly kind: 'live'; readonly session: Session }
  | { readonly kind: 'expired'; readonly session: Session }
  /** Ended before its time, for this reason. */
  | { readonly kind: 'ended'; readonly reason: 'revoked' | 'currency'; readonly session: Session }
  | { readonly kind: 'unknown' };

/** Whether a body names another player or currency than its session (code 3), which never change. */
export function namesAnother(
  said: { readonly userId?: string | undefined; readonly currency?: string | undefined },
  userId: string,
  currency: string,
): boolean {
  return (said.userId ?? userId) !== userId || (said.currency ?? currency) !== currency;
}

/** The error code for a token that may not be used (service protocol, Error codes). */
export function tokenRefusal(
  lookup: Exclude<SessionLookup, { kind: 'live' }>,
): typeof CODES.invalidToken | typeof CODES.expiredToken {
  switch (lookup.kind) {
    case 'unknown':
      return CODES.invalidToken;
    case 'expired':
      return CODES.expiredToken;
    case 'ended':
      return lookup.reason === 'revoked' ? CODES.invalidToken : CODES.expiredToken;
    default:
      return unreachable(lookup);
  }
}

export interface PrefixedToken {
  readonly operatorId: string;
  readonly operatorToken: string;
}

/** `<operator id>.<operator token>`, whatever is configured now; undefined for any other token. */
export function splitToken(token: string): PrefixedToken | undefined {
  const dot = token.indexOf('.');
  if (dot < 1 || token.length > 64 || dot === token.length - 1) return undefined;
  return { operatorId: token.slice(0, dot), operatorToken: token.slice(dot + 1) };
}
