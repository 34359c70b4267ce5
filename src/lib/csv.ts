import { CsvError, parse } from 'csv-parse/sync';

/** Between fields; spreadsheets of many countries write semicolons. */
export const SEPARATORS = [',', ';', '\t', '|'] as const;

export type Separator = (typeof SEPARATORS)[number];

/** Why a text is no record of CSV: it ends within a quoted field, or has a quote where none belongs. */
export type CsvFault = 'quote not closed' | 'misplaced quote';

/**
 * The fields of one CSV record (RFC 4180), untrimmed; quoted ones may hold line ends and doubled quotes.
 * @param record without the line end that ends it
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
