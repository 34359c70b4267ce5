import { named } from '../sql/named.ts';
import { noRow, statement } from '../sql/statement.ts';
import type { Runner } from './books-journal.ts';
import { WHICH_DAY, type WhichDay } from './open-operations.ts';
import { type ClosedDay, closedDayOf } from './statements.ts';
import { NOTE_VIOLATION, type Violation } from './violations.ts';

const NEXT = statement(
  'books-next-closed-day',
  named(WHICH_DAY),
  `
  SELECT operator_id, day::text, movements::int, sha256 FROM books_statements
   WHERE (operator_id, day) > (:operator_id, :day)
   ORDER BY operator_id, day LIMIT 1`,
  closedDayOf,
);

/** How many changed days one look takes again. */
const CHANGED_MAX = 100;

/** Those on record as changed, oldest first. */
const CHANGED = statement(
  'books-changed-statements',
  {},
  `
  SELECT s.operator_id, s.day::text, s.movements::int, s.sha256
    FROM books_violations v
    JOIN books_statements s ON s.operator_id = v.operator_id AND s.operator_id || '/' || s.day::text = v.subject
   WHERE v.rule = 'statement' ORDER BY v.id LIMIT ${CHANGED_MAX}`,
  closedDayOf,
);

const FORGET = statement(
  'books-forget-statement-violation',
  named({ subject: 'text' }),
  `DELETE FROM books_violations WHERE rule = 'statement' AND subject = :subject`,
  noRow,
);

/** Which closed days to look at, and which of them are on record as changed. Every method throws GatewayError. */
export class StatementChecks {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** The closed day after this one, operator by operator; undefined after the last. */
  async next(after: WhichDay): Promise<ClosedDay | undefined> {
    return (await this.#runner.run(NEXT, after))[0];
  }

  /** The days on record as changed, a hundred at most. */
  async changed(): Promise<readonly ClosedDay[]> {
    return await this.#runner.run(CHANGED, {});
  }

  async note(violations: readonly Violation[]): Promise<void> {
    if (violations.length > 0) await this.#runner.run(NOTE_VIOLATION, violations);
  }

  /** The day's lines are those that were closed, again. */
  async forget({ operatorId, day }: WhichDay): Promise<void> {
    await this.#runner.run(FORGET, { subject: `${operatorId}/${day}` });
  }
}
