import type { DayStatement } from '../store/books/statements.ts';

/** The header `digest` of a statement, of its CSV, whether that or JSON is sent (RFC 3230). */
export function digestHeader({ sha256 }: Pick<DayStatement, 'sha256'>): string {
  return `sha-256=${Buffer.from(sha256, 'hex').toString('base64')}`;
}

/** Whether `Accept` names CSV before JSON; JSON is for whoever takes anything. */
export function wantsCsv(accept: string | undefined): boolean {
  const named = (accept ?? '').split(',').map((range) => range.split(';')[0]?.trim().toLowerCase());
  return named.find((type) => type === 'text/csv' || type === 'application/json') === 'text/csv';
}
