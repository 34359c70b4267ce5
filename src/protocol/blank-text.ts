/**
 * Members whose text says nothing about a person and is needed to recognise an operation again:
 * ids of bets and requests, times, currencies, kinds. Any other text may be a name, an address or
 * free text.
 */
const KEPT_MEMBERS = new Set([
  'currency',
  'gameType',
  'requestId',
  'resultType',
  'subPartnerId',
  'ticketType',
  // Kept messages contain only a hash of it.
  'token',
  'transactionId',
  'transactionTime',
  'userId',
]);

/** A text, with the colon after it if it names a member; or a character that delimits values. */
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\],]/gs;

/**
 * A kept message without what it says about a person: every text except those of `KEPT_MEMBERS` becomes
 * `***`. Numbers keep their exact text, and the message still describes the same operation.
 * Text that is not JSON is blanked as a whole.
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
