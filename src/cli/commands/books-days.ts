import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import { type BooksDay, BooksDays } from '../../store/books/days.ts';
import { withDatabase } from '../database.ts';
import { UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readDay } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';
import { warnOfUnknownOperator } from '../unknown-operator.ts';

interface Options {
  readonly operator?: string;
  readonly currency?: string;
  readonly from?: string;
  readonly to?: string;
  readonly cursor?: string;
  readonly json?: true;
}

/** `wagergate books days`: what the wallets confirmed, by operator, currency and day. */
export function booksDaysCommand(terminal: Terminal): Command {
  const command = new Command('days')
    .summary('shows what the wallets confirmed, one line per day')
    .description(
      'Shows the sums of each operator, currency and day from the books of DATABASE_URL, newest day ' +
        'first, a thousand lines per page; those of an open day are a few seconds old at most.',
    )
    .option('--operator <id>', 'only of this operator')
    .option('--currency <code>', 'only in this currency')
    .option('--from <day>', 'from this day on, such as 2026-11-20', readDay)
    .option('--to <day>', 'up to this day', readDay)
    .option('--cursor <cursor>', 'continue where the previous list ended')
    .option('--json', 'print {items, nextCursor} as JSON')
    .action((options: Options) => list(terminal, options));
  return withExamples(command, { line: 'books days --operator alpha --from 2026-11-01' });
}

async function list(terminal: Terminal, { json, ...query }: Options): Promise<void> {
  const { from, to } = query;
  if (from !== undefined && to !== undefined && from > to) {
    throw new UsageError(`--from ${from} is after --to ${to}`);
  }
  const page = await withDatabase(terminal, (database) =>
    new BooksDays(database).list({ ...query, order: 'newest' }),
  );
  if (page === undefined) throw new UsageError('the cursor must be that of the list before');
  if (json) {
    terminal.printJson(page);
    return;
  }
  if (page.items.length === 0) {
    terminal.tell('nothing is booked there');
    if (query.operator !== undefined) warnOfUnknownOperator(terminal, undefined, query.operator);
  } else terminal.print(table(COLUMNS, page.items.map(cells)));
  if (page.nextCursor !== null) terminal.tell(`there are more: add --cursor ${page.nextCursor}`);
}

const SUMS = ['bets', 'stakes', 'returned', 'payouts', 'reversed', 'net', 'open bets'];
const COLUMNS = columns(['day', 'operator', 'currency', ...SUMS, 'state'], SUMS);

function cells(day: BooksDay): string[] {
  return [
    ...[day.day, day.operator, day.currency, String(day.bets), day.stakes, day.stakeReturns],
    ...[day.payouts, day.payoutReversals, day.net, String(day.openBets)],
    day.closed ? 'closed' : 'open',
  ].map(plain);
}
