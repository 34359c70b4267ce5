import { createHash } from 'node:crypto';
import { STATEMENT_HEADER, statementLine } from '../domain/statement-csv.ts';
import type { Digest } from '../store/books/closing.ts';
import type { ClosedDay, Statements } from '../store/books/statements.ts';

/** A day's CSV, page by page: ten million lines take no more memory than one page. */
export async function* statementCsv(
  statements: Pick<Statements, 'pages'>,
  operatorId: string,
  day: string,
): AsyncGenerator<string> {
  yield STATEMENT_HEADER;
  for await (const rows of statements.pages(operatorId, day)) {
    yield rows.map((row) => statementLine(day, row)).join('');
  }
}

/** The checksum that a day's statement would be sealed with now. */
export async function sealOf(
  statements: Pick<Statements, 'pages'>,
  operatorId: string,
  day: string,
): Promise<Digest> {
  const hash = createHash('sha256').update(STATEMENT_HEADER);
  let movements = 0;
  for await (const rows of statements.pages(operatorId, day)) {
    movements += rows.length;
    hash.update(rows.map((row) => statementLine(day, row)).join(''));
  }
  return { sha256: hash.digest('hex'), movements };
}

/** A closed day whose lines are not those that were closed, with the checksum of what they are now. */
export interface ChangedDay {
  readonly closed: ClosedDay;
  readonly now: Digest;
}

/** Those of these closed days whose lines have changed since they were closed. */
export async function changedStatements(
  statements: Pick<Statements, 'pages'>,
  days: readonly ClosedDay[],
): Promise<readonly ChangedDay[]> {
  const changed: ChangedDay[] = [];
  for (const closed of days) {
    const now = await sealOf(statements, closed.operatorId, closed.day);
    if (now.sha256 !== closed.sha256) changed.push({ closed, now });
  }
  return changed;
}
