import { named } from '../sql/named.ts';
import { batchStatement, noRow } from '../sql/statement.ts';

/**
 * `amount`: a confirmed amount cannot be booked. `bet`: a bet's movements disagree with its state. `day`: sums
 * disagree with movements. `statement`: a closed one has changed.
 */
export const VIOLATION_RULES = ['amount', 'bet', 'day', 'statement'] as const;

export interface Violation {
  readonly rule: (typeof VIOLATION_RULES)[number];
  /** A transactionId, or operator/currency/day, or operator/day. */
  readonly subject: string;
  readonly operatorId: string | undefined;
  readonly found: string;
  readonly expected: string;
}

export const NOTE_VIOLATION = batchStatement(
  'books-note-violation',
  named({ rule: 'text', subject: 'text', operator_id: 'text?', found: 'text', expected: 'text' }),
  `
  INSERT INTO books_violations (rule, subject, operator_id, found, expected)
  SELECT DISTINCT ON (i.rule, i.subject) i.rule, i.subject, i.operator_id, i.found, i.expected
    FROM :input
  ON CONFLICT (rule, subject) DO UPDATE SET found = excluded.found, expected = excluded.expected`,
  noRow,
);
