import { createHash } from 'node:crypto';
import { STATEMENT_HEADER, statementLine } from '../domain/statement-csv.ts';
import type { Digest } from '../store/books/closing.ts';
import type { ClosedDay, Statements } from '../store/books/statements.ts';
import type { Violation } from '../store/books/violations.ts';

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

/** A violation for each of these closed days whose movements have changed since it was closed. */
export async function changedStatements(
  statements: Pick<Statements, 'pages'>,
  closed: readonly ClosedDay[],
): Promise<readonly Violation[]> {
  const changed: Violation[] = [];
  for (const { operatorId, day, movements, sha256 } of closed) {
    const now = await sealOf(statements, operatorId, day);
    if (now.sha256 === sha256) continue;
    changed.push({
      rule: 'statement',
      subject: `${operatorId}/${day}`,
      operatorId,
      found: `${now.movements} movements, sha256 ${now.sha256}`,
      expected: `${movements} movements, sha256 ${sha256}`,
    });
  }
  return changed;
}
