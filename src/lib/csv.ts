/** Between fields; spreadsheets of many countries write semicolons. */
export const SEPARATORS = [',', ';', '\t', '|'] as const;

export type Separator = (typeof SEPARATORS)[number];

/** A quoted field, or a bare one; then the separator, or the line's end. */
const FIELDS: Readonly<Record<Separator, RegExp>> = {
  ',': /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y,
  ';': /(?:"((?:[^"]|"")*)"|([^";]*))(;|$)/y,
  '\t': /(?:"((?:[^"]|"")*)"|([^"\t]*))(\t|$)/y,
  '|': /(?:"((?:[^"]|"")*)"|([^"|]*))(\||$)/y,
};

/**
 * The fields of one line of CSV (RFC 4180), exactly as they are between the separators: nothing is
 * trimmed. A field may be quoted, with each quote inside doubled.
 *
 * @returns undefined if a quote is not closed or is in the middle of a field
 */
export function parseCsvLine(
  line: string,
  separator: Separator = ',',
): readonly string[] | undefined {
  if (!line.includes('"')) return line.split(separator);
  const fields: string[] = [];
  const pattern = FIELDS[separator];
  pattern.lastIndex = 0;
  for (;;) {
    const match = pattern.exec(line);
    if (match === null) return undefined;
    const [, quoted, bare, end] = match;
    fields.push(quoted === undefined ? (bare ?? '') : quoted.replaceAll('""', '"'));
    if (end === '') return fields;
  }
}
