import type { Bet } from '../domain/bet.ts';
import { GatewayError } from '../domain/errors.ts';
import type { SessionLookup } from './session.ts';
import type { Sessions } from './sessions.ts';

/**
 * The operator token for a call on a bet: the one it was placed with, even of an ended session. If no place was
 * seen, the message's own, if it is the same player's. A call goes without a token that cannot be decrypted.
 * @param token as the service sent it, or the hash that stands for it @throws GatewayError
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
