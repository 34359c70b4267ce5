/** Members that say nothing about a person and identify an operation: ids, times, currencies, kinds. */
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
 * A kept message whose texts, except `KEPT_MEMBERS`, are `***`. Numbers keep their exact text; what is not
 * JSON is blanked as a whole.
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
