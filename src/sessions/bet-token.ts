import type { Bet } from '../domain/bet.ts';
import { GatewayError } from '../domain/errors.ts';
import type { SessionLookup } from './session.ts';
import type { Sessions } from './sessions.ts';

/**
 * The operator token that goes with a call on a bet: the one the bet was placed with, also when its
 * session has ended. For a bet unknown here it is that of the message's own token, if that maps to a session
 * of the same player. If a token cannot be decrypted, the call goes without one: it matters more.
 * @param token the token that the service sent, if any, or the hash that stands for it in a stored message
 * @throws GatewayError `DATABASE_UNAVAILABLE`
 */
export async function betToken(
  sessions: Sessions,
  bet: Pick<Bet, 'sessionId' | 'owner'>,
  token: string | undefined,
): Promise<string | undefined> {
  if (bet.sessionId !== undefined) return await sessions.operatorTokenOf(bet.sessionId);
  if (token === undefined || bet.owner === undefined) return undefined;
  const lookup = await findOpenable(sessions, token);
  if (lookup.kind === 'unknown') return undefined;
  const samePlayer = lookup.session.owner.playerId === bet.owner.playerId;
  return samePlayer ? lookup.session.operatorToken : undefined;
}

async function findOpenable(sessions: Sessions, token: string): Promise<SessionLookup> {
  try {
    return await sessions.findKept(token);
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'TOKEN_UNOPENABLE') {
      return { kind: 'unknown' };
    }
    throw error;
  }
}
