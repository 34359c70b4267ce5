import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import { prune, timeThere } from '../../store/prune/prune.ts';
import type { PrunedMonth } from '../../store/prune/prune-months.ts';
import { withReadyDatabase } from '../database.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly olderThan: string;
  readonly dryRun?: true;
  readonly json?: true;
}

/** `wagergate prune`: deletes old months from the journal. */
export function pruneCommand(terminal: Terminal): Command {
  const command = new Command('prune')
    .summary('deletes old months from the journal')
    .description(
      'Deletes whole months from the journal: their operations and attempts, and the deliveries, ' +
        'bets, sessions and calls of the bonus API that ended before. A month in which something is still ' +
        'open (a delivery that is pending or dead, a bet in flight or unresolved) is refused and ' +
        'named; bets that still wait for their result are kept completely. The gateway can keep ' +
        'running: locks are held only for moments.',
    )
    .requiredOption('--older-than <age>', 'months to keep, such as 5mo, or years, such as 1y')
    .option('--dry-run', 'print what would be deleted, and change nothing')
    .option('--json', 'print what was done as JSON')
    .action((options: Options) => run(terminal, options));
  return withExamples(
    command,
    { line: 'prune --older-than 5mo --dry-run' },
    { line: 'prune --older-than 5mo' },
  );
}

async function run(terminal: Terminal, options: Options): Promise<void> {
  // Checked first, before connecting to anything: whether it is an age at all.
  monthsAgo(options.olderThan, new Date());
  const isDryRun = options.dryRun === true;
  const log = (line: string) => terminal.tell(line);
  const { before, ...pruned } = await withReadyDatabase(terminal, async (url) => {
    // The earlier of both clocks: deleting is final.
    const now = Math.min(Date.now(), (await timeThere(url)).getTime());
    const oldest = monthsAgo(options.olderThan, new Date(now));
    return { before: oldest, ...(await prune(url, { before: oldest, isDryRun, log })) };
  });
  const refused = pruned.months.filter(({ result }) => result === 'refused');
  if (options.json) {
    terminal.printJson({ before: before.toISOString(), isDryRun, ...pruned });
  } else {
    const { months, deliveries, bets, sessions, bonusCalls } = pruned;
    for (const month of months) terminal.print(lineOf(month, isDryRun));
    terminal.print(
      `${months.length - refused.length} months, ${deliveries} deliveries, ${bets} bets, ` +
        `${sessions} sessions and ${bonusCalls} bonus calls from before ${before.toISOString().slice(0, 10)} ` +
        (isDryRun ? 'would go' : 'are gone'),
    );
  }
  if (refused.length > 0) {
    throw new CommandFailed(
      `${refused.length} month(s) refused: close what is open (\`wagergate bet <id>\`, ` +
        '`wagergate deliveries list`), then prune again',
    );
  }
}

function lineOf({ month, result, open, carriedOver }: PrunedMonth, isDryRun: boolean): string {
  if (result === 'refused') {
    const bets = open.map(
      (bet) => `  ${plain(bet.transactionId)} (${plain(bet.operatorId ?? 'nobody')}): ${bet.why}`,
    );
    return [`${month}: refused, still open:`, ...bets].join('\n');
  }
  const kept = carriedOver > 0 ? `, except ${carriedOver} bets that wait for their result` : '';
  return `${month}: ${isDryRun ? 'would be dropped' : 'dropped'}${kept}`;
}

/** The first of the month that is the oldest one kept. @throws UsageError */
export function monthsAgo(age: string, now: Date): Date {
  const match = /^(\d{1,3})(mo|y)$/.exec(age);
  const months = Number(match?.[1]) * (match?.[2] === 'y' ? 12 : 1);
  if (match === null || months < 1) {
    throw new UsageError(`${plain(age)} is not an age: give months or years, such as 5mo or 1y`);
  }
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1));
}
