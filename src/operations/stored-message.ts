import { jsonString } from '../protocol/json.ts';
import type { BetRequest } from '../protocol/messages.ts';
import type { Sessions } from '../sessions/sessions.ts';

/**
 * A message as the journal stores it: as the service sent it, except for its token, of which only the
 * hash may be stored.
 */
export function storedMessage(sessions: Sessions, message: BetRequest, raw: Buffer): Buffer {
  const { document } = message;
  const { token } = document.value;
  if (token === undefined || token === null) return raw;
  // An odd one, of a rollback or update, may hold a token all the same.
  const text = typeof token === 'string' ? token : JSON.stringify(token);
  return Buffer.from(document.replace({ token: jsonString(sessions.referenceOf(text)) }));
}
