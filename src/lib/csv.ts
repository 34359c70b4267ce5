import { CsvError, parse } from 'csv-parse/sync';

/** Between fields; spreadsheets of many countries write semicolons. */
export const SEPARATORS = [',', ';', '\t', '|'] as const;

export type Separator = (typeof SEPARATORS)[number];

/** Why a text is no record of CSV: it ends within a quoted field, or has a quote where none belongs. */
export type CsvFault = 'quote not closed' | 'misplaced quote';

/**
 * The fields of one record of CSV (RFC 4180), exactly as they are between the separators: nothing is
 * trimmed. A field may be quoted, with each quote inside doubled.
 *
 * @param record without the line end that ends it; quoted fields may hold line ends
 */
export function csvFields(
  record: string,
  separator: Separator = ',',
): readonly string[] | CsvFault {
  // The usual case, twenty times as fast.
  if (!record.includes('"')) return record.split(separator);
  try {
    const [fields] = parse(record, { delimiter: separator, record_delimiter: '\n' });
    return fields ?? [''];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return error.code === 'CSV_QUOTE_NOT_CLOSED' ? 'quote not closed' : 'misplaced quote';
  }
}
