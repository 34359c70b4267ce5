/**
 * Members whose text tells nothing of a person and is needed to recognise an operation again:
 * ids of bets and requests, times, currencies, kinds. Everything else may be a name, an address or
 * free text.
 */
const KEPT_MEMBERS = new Set([
  'currency',
  'gameType',
  'requestId',
  'resultType',
  'subPartnerId',
  'ticketType',
  // A hash of it, in kept messages.
  'token',
  'transactionId',
  'transactionTime',
  'userId',
]);

/** A text, with the colon behind it where it names a member; or what ends a value. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\],]/gs;

/**
 * A kept message without what it says of a person: every text but those of known members becomes
 * `***`. Numbers keep their exact text, and it is still the same operation to whoever reads it.
 * What is no JSON is blanked as a whole.
 */
export function blankTexts(json: string): string {
  try {
    JSON.parse(json);
  } catch {
    return '***';
  }
  let member: string | undefined;
  return json.replace(TOKEN, (token: string, colon: string | undefined) => {
    if (!token.startsWith('"')) {
      member = undefined;
      return token;
    }
    if (colon !== undefined) {
      const name: unknown = JSON.parse(token.slice(0, token.length - colon.length));
      member = typeof name === 'string' ? name : undefined;
      return token;
    }
    const isKept = member !== undefined && KEPT_MEMBERS.has(member);
    member = undefined;
    return isKept ? token : '"***"';
  });
}
