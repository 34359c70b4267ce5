const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The text of one member of the outermost object, found in unauthenticated bytes: one scan that
 * allocates nothing for what it passes, whereas a parser could build 20,000 objects for anybody.
 * It does not check the grammar: a caller that acts on the result parses afterwards and compares.
 *
 * @param name plain ASCII; it is not found if the body writes it with escapes
 * @param valueBytesMax a longer value counts as none
 * @returns the first such member's value; undefined if there is none or it is no string
 */
export function findText(bytes: Buffer, name: string, valueBytesMax: number): string | undefined {
  const wanted = Buffer.from(`"${name}"`);
  let depth = 0;
  // Whether the next string of the outermost object is a name.
  let expectsName = false;
  for (let at = skipWhitespace(bytes, 0); at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case OPEN_BRACE:
      case OPEN_BRACKET:
        // An outermost array has no members.
        if (depth === 0 && bytes[at] === OPEN_BRACKET) return undefined;
        depth += 1;
        expectsName = depth === 1;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COMMA:
        expectsName = depth === 1;
        break;
      case QUOTE: {
        const end = stringEnd(bytes, at);
        if (end === undefined) return undefined;
        if (expectsName && isAt(bytes, at, end, wanted)) {
          return valueAfter(bytes, end, valueBytesMax);
        }
        expectsName = false;
        at = end - 1;
        break;
      }
      default:
        // Numbers, words and whitespace: nothing that opens, closes or separates.
        break;
    }
    if (depth <= 0) return undefined;
  }
  return undefined;
}

function isAt(bytes: Buffer, start: number, end: number, wanted: Buffer): boolean {
  return end - start === wanted.length && bytes.compare(wanted, 0, wanted.length, start, end) === 0;
}

/** The string after a name and its colon. */
function valueAfter(bytes: Buffer, nameEnd: number, valueBytesMax: number): string | undefined {
  const colon = skipWhitespace(bytes, nameEnd);
  if (bytes[colon] !== COLON) return undefined;
  const start = skipWhitespace(bytes, colon + 1);
  if (bytes[start] !== QUOTE) return undefined;
  const end = stringEnd(bytes, start);
  if (end === undefined || end - start > valueBytesMax + 2) return undefined;
  try {
    return String(JSON.parse(bytes.toString('utf8', start, end)));
  } catch {
    // Not a JSON string, for example with a line break in it: then the body is not JSON either.
    return undefined;
  }
}

/** The end of the string that opens at `start`: the position after its closing quote. */
function stringEnd(bytes: Buffer, start: number): number | undefined {
  let quote = start;
  for (;;) {
    quote = bytes.indexOf(QUOTE, quote + 1);
    if (quote === -1) return undefined;
    let escapes = 0;
    while (bytes[quote - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
}

/** Skips only JSON's four whitespace characters, like the parser. */
function skipWhitespace(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) {
    at += 1;
  }
  return at;
}
