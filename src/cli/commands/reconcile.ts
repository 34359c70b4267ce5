import { Command, InvalidArgumentError } from 'commander';
import { type ColumnNames, readColumnNames } from '../../books/reconciliation/columns.ts';
import { Incomparable } from '../../books/reconciliation/incomparable.ts';
import { ReconciliationRun, type RunProgress } from '../../books/reconciliation/run.ts';
import { plain } from '../../lib/plain-text.ts';
import { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import { ReconciliationRuns } from '../../store/reconciliation/runs.ts';
import { byOf } from '../caller.ts';
import { loadValid } from '../configuration.ts';
import { withDatabase } from '../database.ts';
import { CommandFailed, Differs, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readChunks } from '../input.ts';
import { untilInterrupted } from '../interruption.ts';
import { readDay } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';
import { printReconciliation } from '../text/reconciliation-text.ts';

interface Options {
  readonly operator: string;
  readonly from: string;
  readonly to: string;
  readonly file: string;
  readonly columns?: ColumnNames;
  readonly folder?: string;
  readonly json?: true;
}

const PROGRESS_EVERY_MS = 1_000;
const MEBIBYTE = 1_048_576;

/** `wagergate reconcile`: compares the journal's bets with another party's list. */
export function reconcileCommand(terminal: Terminal): Command {
  const command = new Command('reconcile')
    .summary("compares an operator's bets with somebody's list of them")
    .description(
      "Compares the bets that the journal of DATABASE_URL has of an operator's days with a list: " +
        "the wallet's own, or the service's. Days are those of books.timeZone, by the time at " +
        'which the place arrived. The list is CSV (commas, semicolons, tabs; quotes) or one JSON ' +
        'object per line, UTF-8, optionally compressed with gzip, with the columns transactionId, ' +
        'currency, stake, payout, state (placed, settled, rolled_back); all but the first may be ' +
        'left out, and are then not compared. Lines that cannot be read are differences too. The ' +
        'differences are kept, and can be resolved here, in the console or by the admin API. Exits ' +
        'with 0 if the lists agree (or somebody has resolved every difference), 3 if they differ, ' +
        '1 if they could not be compared.',
    )
    .requiredOption('--operator <id>', 'whose bets')
    .requiredOption('--from <day>', 'the first day, such as 2026-11-20', readDay)
    .requiredOption('--to <day>', 'the last day, compared as well', readDay)
    .requiredOption('--file <file>', 'the list; - for stdin')
    .option(
      '--columns <names>',
      'the names of its columns: transactionId=bet_id,stake=amount',
      names,
    )
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print counts and differences as JSON')
    .action((options: Options) => reconcile(terminal, options));
  return withExamples(
    command,
    { line: 'reconcile --operator alpha --from 2026-11-20 --to 2026-11-20 --file theirs.csv' },
    {
      line:
        'reconcile --operator alpha --from 2026-11-01 --to 2026-11-20 --file theirs.csv.gz ' +
        '--columns transactionId=bet_id,stake=amount,payout=win',
    },
    {
      line: 'reconcile --operator alpha --from 2026-11-20 --to 2026-11-20 --file - --json < theirs.ndjson',
    },
  );
}

function names(text: string): ColumnNames {
  try {
    return readColumnNames(text);
  } catch (error) {
    if (error instanceof Incomparable) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
}

async function reconcile(terminal: Terminal, options: Options): Promise<void> {
  const { from, to } = options;
  if (from > to) throw new UsageError(`--from ${from} is after --to ${to}`);
  await withDatabase(terminal, async (database, databaseUrl) => {
    const kept = {
      runs: new ReconciliationRuns(database, (id, { message }) =>
        terminal.tell(
          `warning: what was resolved just as reconciliation ${id} ended may be counted as open (${message}): compare again`,
        ),
      ),
      differences: new ReconciliationDifferences(database),
    };
    const id = await untilInterrupted(
      () => terminal.tell('stopping ...'),
      (signal) => compare(terminal, options, { ...kept, databaseUrl, signal }),
    );
    const run = await kept.runs.find(id);
    if (run === undefined) throw new Error(`reconciliation ${id} is gone`);
    await printReconciliation(terminal, run, kept.differences, options.json === true);
    const open = Object.values(run.open ?? {}).reduce((sum, count) => sum + count, 0);
    if (open > 0) throw new Differs('differences');
  });
}

type Kept = Omit<Parameters<typeof ReconciliationRun.begin>[0], 'onProgress'>;

/** @returns the run's id, once it is done */
async function compare(terminal: Terminal, options: Options, parts: Kept): Promise<string> {
  const { operator, from, to, file, columns = new Map() } = options;
  const { timeZone, mebibytesMax } = await settings(terminal, options, parts.runs);
  const onProgress = showProgress(terminal);
  const { caller } = byOf({});
  try {
    const plan = { operatorId: operator, from, to, timeZone, actor: caller.actor };
    const run = await ReconciliationRun.begin({ ...parts, onProgress }, plan);
    const bytesMax = mebibytesMax * MEBIBYTE;
    await run.read(readChunks(terminal, file, parts.signal), { names: columns, bytesMax });
    await run.compare();
    return run.id;
  } catch (error) {
    parts.signal.throwIfAborted();
    if (!(error instanceof Incomparable)) throw error;
    throw new CommandFailed(`could not compare: ${plain(error.message)}`, { cause: error });
  }
}

const MEBIBYTES_MAX = 4096;

/** @throws CommandFailed if the operator, or the time zone, is unknown */
async function settings(terminal: Terminal, options: Options, runs: ReconciliationRuns) {
  const { operator, folder: option } = options;
  const { configuration, folder } = await loadValid(terminal.env, option);
  const isKnown = configuration?.operators.has(operator) === true || (await runs.hasBets(operator));
  if (!isKnown) {
    throw new CommandFailed(
      `could not compare: no operator ${plain(operator)} in ${folder}, nor any bet of one`,
    );
  }
  const books = configuration?.gateway.books;
  const timeZone = (await runs.booksTimeZone()) ?? books?.timeZone;
  if (timeZone === undefined) {
    throw new CommandFailed(
      `could not compare: gateway.yaml in ${folder}, which says the time zone of days, is not ` +
        'valid: see what is wrong with `wagergate config check`',
    );
  }
  return { timeZone, mebibytesMax: books?.reconciliationMebibytesMax ?? MEBIBYTES_MAX };
}

function showProgress(terminal: Terminal): (progress: RunProgress) => void {
  if (!terminal.isWatched) return () => undefined;
  let shownAtMs = performance.now();
  return ({ state, lines, bytes }) => {
    const nowMs = performance.now();
    if (state === 'comparing') terminal.tell(`... ${lines} lines read, comparing`);
    else if (nowMs - shownAtMs >= PROGRESS_EVERY_MS) {
      shownAtMs = nowMs;
      terminal.tell(`... ${lines} lines, ${Math.round(bytes / MEBIBYTE)} MiB`);
    }
  };
}
