import { jsonString } from '../protocol/json.ts';
import type { BetRequest } from '../protocol/messages.ts';
import type { Sessions } from '../sessions/sessions.ts';

/**
 * A message as the journal stores it: as the service sent it, except for its token, of which only the
 * hash may be stored.
 */
export function storedMessage(sessions: Sessions, message: BetRequest, raw: Buffer): Buffer {
  const token = message.document.value.token;
  if (typeof token !== 'string') return raw;
  return Buffer.from(message.document.replace({ token: jsonString(sessions.referenceOf(token)) }));
}
