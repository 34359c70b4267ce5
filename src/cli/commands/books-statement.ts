import { createHash } from 'node:crypto';
import { Command } from 'commander';
import { statementCsv } from '../../books/statement-digest.ts';
import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import { type DayStatement, Statements } from '../../store/books/statements.ts';
import type { Database } from '../../store/database.ts';
import { withDatabase } from '../database.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readDay } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly operator: string;
  readonly day: string;
  readonly json?: true;
  readonly csv?: true;
}

/** `wagergate books statement`: a closed day of an operator. */
export function booksStatementCommand(terminal: Terminal): Command {
  const command = new Command('statement')
    .summary('shows a closed day of an operator')
    .description(
      'Shows the statement of a closed day from the books of DATABASE_URL: what its wallet ' +
        'confirmed, summed by currency, and what was open when it was closed. Its CSV has a line ' +
        'for each movement; the SHA-256 is of exactly that CSV, and neither ever changes.',
    )
    .requiredOption('--operator <id>', 'whose day')
    .requiredOption('--day <day>', 'the day, such as 2026-11-20', readDay)
    .option('--csv', 'print the movements as CSV')
    .option('--json', 'print the statement as JSON')
    .action((options: Options) => show(terminal, options));
  return withExamples(
    command,
    { line: 'books statement --operator alpha --day 2026-11-20' },
    { line: 'books statement --operator alpha --day 2026-11-20 --csv' },
  );
}

async function show(terminal: Terminal, options: Options): Promise<void> {
  await withDatabase(terminal, (database) => print(terminal, database, options));
}

async function print(
  terminal: Terminal,
  database: Database,
  { operator, day, json, csv }: Options,
): Promise<void> {
  const statements = new Statements(database);
  const statement = await statements.find(operator, day);
  if (statement === undefined) {
    throw new CommandFailed(
      `${plain(operator)} has no statement of ${day}: the day is not closed yet, or the ` +
        'operator had no bets by then',
    );
  }
  if (csv) await printCsv(terminal, statements, statement);
  else if (json) terminal.printJson(statement);
  else terminal.print(statementText(statement));
}

/** @throws CommandFailed after the last line if these are not the lines that were closed */
async function printCsv(
  terminal: Terminal,
  statements: Statements,
  { operator, day, sha256 }: DayStatement,
): Promise<void> {
  const hash = createHash('sha256');
  for await (const piece of statementCsv(statements, operator, day)) {
    hash.update(piece);
    // `print` ends a line by itself.
    terminal.print(piece.slice(0, -1));
    if (terminal.isUnread) return;
  }
  const printed = hash.digest('hex');
  if (printed === sha256) return;
  throw new CommandFailed(
    `these are not the lines that were closed: their SHA-256 is ${printed}, that of the statement ` +
      `${sha256}. Somebody has written to books_movements: see docs/runbooks/books.md`,
  );
}

const SUMS = [
  ...['bets', 'stakes', 'returned', 'payouts', 'reversed', 'net', 'freebets'],
  ...['open bets', 'open stakes', 'unresolved'],
];
const COLUMNS = columns(['currency', ...SUMS], SUMS);

/** How many open bets are shown; the rest is in the JSON. */
const OPEN_SHOWN = 20;

/** A closed day for people: its operator, its bounds, a line for each currency, what was open. */
function statementText(statement: DayStatement): string {
  const { operator, day, timeZone, closedAt, movements, sha256, totals, open, openCount } =
    statement;
  const lines = totals.map((sums) => [
    sums.currency,
    String(sums.bets),
    sums.stakes,
    sums.stakeReturns,
    sums.payouts,
    sums.payoutReversals,
    sums.net,
    sums.freebetStakes,
    String(sums.openBets),
    sums.openStakes,
    String(sums.unresolved),
  ]);
  const shown = open
    .slice(0, OPEN_SHOWN)
    .map(({ transactionId, operation, why, since }) => [since, operation, transactionId, why]);
  return [
    `${operator}, ${day} (${timeZone}), closed ${closedAt}: ${movements} movements`,
    `sha256 of its CSV: ${sha256}`,
    '',
    lines.length === 0 ? 'nothing moved and nothing was open' : table(COLUMNS, lines),
    ...(openCount === 0
      ? []
      : [
          '',
          `open when it was closed: ${openCount}`,
          table(columns(['since', 'operation', 'transactionId', 'why']), shown),
        ]),
  ].join('\n');
}
