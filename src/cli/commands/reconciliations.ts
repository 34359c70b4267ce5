import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import type { Database } from '../../store/database.ts';
import { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import type { ReconciliationItem } from '../../store/reconciliation/run-item.ts';
import { ReconciliationRuns } from '../../store/reconciliation/runs.ts';
import { withDatabase } from '../database.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';
import { printReconciliation } from '../text/reconciliation-text.ts';
import { warnOfUnknownOperator } from '../unknown-operator.ts';

interface JsonOption {
  readonly json?: true;
}

const COLUMNS = columns(
  ['id', 'at', 'operator', 'from', 'to', 'state', 'open', 'by'],
  ['id', 'open'],
);

/** `wagergate reconciliations list`: the comparisons, and how many of their differences are open. */
export function reconciliationsListCommand(terminal: Terminal): Command {
  const command = new Command('list')
    .summary('lists the latest comparisons')
    .description("Lists the latest 50 comparisons of bets with others' lists, newest first.")
    .option('--operator <id>', 'only of this operator')
    .option('--json', 'print them as JSON')
    .action((options: JsonOption & { readonly operator?: string }) =>
      withDatabase(terminal, (database) => list(terminal, database, options)),
    );
  return withExamples(command, { line: 'reconciliations list --operator alpha' });
}

async function list(
  terminal: Terminal,
  database: Database,
  { operator, json }: JsonOption & { readonly operator?: string },
): Promise<void> {
  const runs = new ReconciliationRuns(database);
  await runs.failLost();
  const { items } = await runs.list({ operator });
  if (json) terminal.printJson(items);
  else if (items.length === 0) {
    terminal.print('nothing has been compared yet: see `reconcile --help`');
    if (operator !== undefined) warnOfUnknownOperator(terminal, undefined, operator);
  } else terminal.print(table(COLUMNS, items.map(cellsOf)));
}

function cellsOf(run: ReconciliationItem): string[] {
  const { id, createdAt, operator, from, to, state, open, actor } = run;
  const count = Object.values(open ?? {}).reduce((sum, one) => sum + one, 0);
  return [id, createdAt, operator, from, to, state, open === null ? '' : String(count), actor];
}

/** `wagergate reconciliations show`: what a comparison found, in the format of `reconcile`. */
export function reconciliationsShowCommand(terminal: Terminal): Command {
  const command = new Command('show')
    .summary('shows what a comparison found')
    .description(
      'Shows the counts of a comparison and the differences that nobody has resolved. As JSON it ' +
        'has all differences.',
    )
    .argument('<id>', 'the comparison, as `reconciliations list` shows it')
    .option('--json', 'print counts and differences as JSON')
    .action((id: string, { json }: JsonOption) =>
      withDatabase(terminal, async (database) => {
        const run = await doneRun(new ReconciliationRuns(database), reconciliationId(id));
        const differences = new ReconciliationDifferences(database);
        await printReconciliation(terminal, run, differences, json === true);
      }),
    );
  return withExamples(command, { line: 'reconciliations show 17 --json' });
}

/** The id of a comparison or a difference. @throws UsageError */
export function reconciliationId(text: string): string {
  if (/^\d{1,18}$/.test(text)) return text;
  throw new UsageError(`${plain(text)} is not an id: see \`reconciliations list\``);
}

/** @throws CommandFailed if there is no such comparison, or it is not done */
export async function doneRun(runs: ReconciliationRuns, id: string): Promise<ReconciliationItem> {
  await runs.failLost();
  const run = await runs.find(id);
  if (run === undefined) throw new CommandFailed(`there is no comparison ${id}`);
  if (run.state === 'done') return run;
  const why = run.state === 'failed' ? `could not be compared: ${plain(run.why ?? '')}` : run.state;
  throw new CommandFailed(`comparison ${id} has nothing to show: ${why}`);
}
