import type { DayStatement } from '../store/books/statements.ts';

/** The header `digest` of a statement (RFC 3230): that of its CSV, even if JSON is sent. */
export function digestHeader({ sha256 }: Pick<DayStatement, 'sha256'>): string {
  return `sha-256=${Buffer.from(sha256, 'hex').toString('base64')}`;
}

const CSV = 'text/csv';
const JSON_TYPE = 'application/json';
/** RFC 9110, section 12.4.2. */
const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

interface Range {
  readonly type: string;
  /** From 0 (not accepted) to 1. */
  readonly quality: number;
}

/** Whether `Accept` prefers CSV to JSON (RFC 9110, 12.5.1): by quality, then by order. */
export function wantsCsv(accept: string | undefined): boolean {
  const ranges = (accept ?? '').split(',').map(rangeOf);
  const [csv, json] = [qualityOf(ranges, CSV), qualityOf(ranges, JSON_TYPE)];
  if (csv !== json) return csv > json;
  return csv > 0 && ranges.find(({ type }) => type === CSV || type === JSON_TYPE)?.type === CSV;
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const said = parameters.find((one) => one.startsWith('q='))?.slice(2) ?? '';
  return { type, quality: QUALITY.test(said) ? Number(said) : 1 };
}

/** The quality of the most specific range that matches the type. */
function qualityOf(ranges: readonly Range[], type: string): number {
  const wider = [type, type.replace(/\/.*$/, '/*'), '*/*'];
  for (const wanted of wider) {
    const range = ranges.find((one) => one.type === wanted);
    if (range !== undefined) return range.quality;
  }
  return 0;
}
