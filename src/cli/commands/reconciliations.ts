import { Command } from 'commander';
import { table } from '../../lib/table.ts';
import type { Database } from '../../store/database.ts';
import { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import type { ReconciliationItem } from '../../store/reconciliation/run-item.ts';
import { ReconciliationRuns } from '../../store/reconciliation/runs.ts';
import { withDatabase } from '../database.ts';
import { withExamples } from '../help.ts';
import { doneRun, reconciliationId } from '../reconciliation-run.ts';
import { warnOfUnknownOperator } from '../suggestions.ts';
import type { Terminal } from '../terminal.ts';
import { printReconciliation } from '../text/reconciliation-text.ts';

interface JsonOption {
  readonly json?: true;
}

const COLUMNS = [
  { title: 'id', align: 'right' },
  { title: 'at', align: 'left' },
  { title: 'operator', align: 'left' },
  { title: 'from', align: 'left' },
  { title: 'to', align: 'left' },
  { title: 'state', align: 'left' },
  { title: 'open', align: 'right' },
  { title: 'by', align: 'left' },
] as const;

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
