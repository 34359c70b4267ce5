import { Command } from 'commander';
import { RebuildRefused, rebuildBooks } from '../../books/rebuild.ts';
import { plain } from '../../lib/plain-text.ts';
import type { RebuildDifference } from '../../store/books/rebuild-steps.ts';
import { loadValid } from '../configuration.ts';
import { withReadyDatabase } from '../database.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readDay } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';

const DAYS_SHOWN = 5;

interface Options {
  readonly from?: string;
  readonly folder?: string;
  readonly json?: true;
}

/** `wagergate books rebuild`: books movements and sums again, from the journal. */
export function booksRebuildCommand(terminal: Terminal): Command {
  const command = new Command('rebuild')
    .summary('books the journal again')
    .description(
      'Books the journal of DATABASE_URL again, in one transaction: the same rows, byte for byte, ' +
        'or it says which ones differ. What was pruned from the journal stays as it was booked, and ' +
        'a closed statement never changes: if one would, nothing is changed. Callbacks go on ' +
        'meanwhile, the bookkeeper waits.',
    )
    .option(
      '--from <day>',
      'only what was confirmed on this day or later, such as 2026-11-20',
      readDay,
    )
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print what was done as JSON')
    .action((options: Options) => rebuild(terminal, options));
  return withExamples(
    command,
    { line: 'books rebuild' },
    { line: 'books rebuild --from 2026-11-20' },
  );
}

async function rebuild(terminal: Terminal, { from, folder, json }: Options): Promise<void> {
  const timeZone = await booksTimeZone(terminal, folder);
  try {
    const log = (line: string) => terminal.tell(line);
    const done = await withReadyDatabase(terminal, (url) =>
      rebuildBooks(url, { timeZone, fromDay: from, log }),
    );
    if (json) terminal.printJson(done);
    else terminal.print(summaryOf(done));
  } catch (error) {
    if (error instanceof RebuildRefused) throw new CommandFailed(error.message, { cause: error });
    throw error;
  }
}

/** `books.timeZone` of the configuration folder. @throws CommandFailed if `gateway.yaml` is not valid */
async function booksTimeZone(
  terminal: Terminal,
  folderOption: string | undefined,
): Promise<string> {
  const { configuration, folder } = await loadValid(terminal.env, folderOption);
  if (configuration !== undefined) return configuration.gateway.books.timeZone;
  throw new CommandFailed(
    `gateway.yaml in ${folder} is not valid: see what is wrong with \`wagergate config check\``,
  );
}

function summaryOf({ before, after, added, changed, examples, days }: RebuildDifference): string {
  const rows =
    changed === 0
      ? `${after} movements, the same as before`
      : `${after} movements, ${before} before; ${changed} rows were others (${listed(examples)})`;
  // The bookkeeper waited meanwhile: what wallets confirmed since is booked as well, and is no difference.
  const news = added === 0 ? '' : `, and ${added} new ones`;
  if (days.length === 0) return `${rows}${news}`;
  const which = listed(days.slice(0, DAYS_SHOWN));
  return `${rows}${news}\nthe sums of ${days.length} day${days.length === 1 ? '' : 's'} were others (${which})`;
}

const listed = (names: readonly string[]) => names.map(plain).join(', ');
