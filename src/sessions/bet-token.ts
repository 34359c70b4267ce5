import type { Bet } from '../domain/bet.ts';
import { GatewayError } from '../domain/errors.ts';
import type { SessionLookup } from './session.ts';
import type { Sessions } from './sessions.ts';

/**
 * The operator token for a call on a bet: the one the bet was placed with, even if its session has
 * ended. If the bet's place was never seen, it is that of the message's own token, provided that it belongs to a
 * session of the same player. If a token cannot be decrypted, the call goes without it: the call matters more.
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
