/** What moves the cursor, recolours the screen or reorders text: control characters and bidirectional marks. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Text from outside on one line, without characters by which it could pass for something else. */
export function plain(text: string): string {
  return text.replaceAll(/\s+/g, onOneLine).replaceAll(UNSAFE, '\u{fffd}');
}

/** Called once per run of spaces, so that a page of nothing but spaces is cheap. */
function onOneLine(spaces: string): string {
  return /[\r\n]/.test(spaces) ? ' ' : spaces;
}

/** Indented JSON in which unsafe characters are written as escapes. */
export function plainJson(value: unknown): string {
  return escaped(JSON.stringify(value, undefined, 2));
}

/** The same of one line of JSON as it was written: JSON itself escapes only some of them. */
export function plainJsonLine(json: string): string {
  return escaped(json.trimEnd());
}

function escaped(json: string): string {
  // The line breaks of an indentation stay: within texts JSON has escaped them already.
  return json.replaceAll(UNSAFE, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
