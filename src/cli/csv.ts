/** A quoted field, or a bare one; then the comma, or the line's end. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;

/**
 * The fields of one line of CSV (RFC 4180), exactly as they stand between commas: nothing is
 * trimmed. A field may be in quotes, with each quote inside doubled; no field goes on in the next
 * line, so that one forgotten quote cannot swallow the rest of a file.
 *
 * @returns undefined where a quote is not closed or stands in the middle of a field
 */
export function parseCsvLine(line: string): readonly string[] | undefined {
  if (!line.includes('"')) return line.split(',');
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  for (;;) {
    const match = FIELD.exec(line);
    if (match === null) return undefined;
    const [, quoted, bare, end] = match;
    fields.push(quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"'));
    if (end === '') return fields;
  }
}
