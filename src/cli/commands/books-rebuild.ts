import { Command } from 'commander';
import { RebuildRefused, rebuildBooks } from '../../books/rebuild.ts';
import { plain } from '../../lib/plain-text.ts';
import { booksTimeZone, readDay } from '../books.ts';
import { withReadyDatabase } from '../database.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';

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
    // The bookkeeper waited meanwhile: what wallets confirmed since is booked as well, and is no difference.
    const added = done.added === 0 ? '' : `, and ${done.added} new ones`;
    if (json) terminal.printJson(done);
    else if (done.changed === 0)
      terminal.print(`${done.after} movements, the same as before${added}`);
    else {
      const which = done.examples.map(plain).join(', ');
      terminal.print(
        `${done.after} movements, ${done.before} before; ${done.changed} rows were others (${which})${added}`,
      );
    }
  } catch (error) {
    if (error instanceof RebuildRefused) throw new CommandFailed(error.message, { cause: error });
    throw error;
  }
}
