import { Command } from 'commander';
import { migrateDatabase } from '../database.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly json?: true;
}

/** `wagergate migrate`: brings the database of DATABASE_URL to this release's schema. */
export function migrateCommand(terminal: Terminal): Command {
  const command = new Command('migrate')
    .summary('applies the migrations of this release to the database')
    .description(
      'Applies the migrations that the database of DATABASE_URL lacks. Any number of processes ' +
        'may do so at once: one applies, the others wait.',
    )
    .option('--json', 'print the applied migrations as JSON')
    .action(async ({ json }: Options) => {
      const applied = await migrateDatabase(terminal.env, (line) =>
        json ? terminal.tell(line) : terminal.print(line),
      );
      if (json) terminal.printJson({ applied });
      else if (applied.length === 0) terminal.print('the database is up to date');
    });
  return withExamples(
    command,
    { line: 'migrate', note: 'against the DATABASE_URL of the environment' },
    { line: 'migrate --json' },
  );
}
