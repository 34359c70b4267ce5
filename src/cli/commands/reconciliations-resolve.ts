import { Command, Option } from 'commander';
import { DIFFERENCE_KINDS, type DifferenceKind } from '../../domain/reconciliation.ts';
import { unreachable } from '../../domain/unreachable.ts';
import type { Database } from '../../store/database.ts';
import { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import { ReconciliationRuns } from '../../store/reconciliation/runs.ts';
import { byOf, notBlank } from '../caller.ts';
import { withDatabase } from '../database.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';
import { doneRun, reconciliationId } from './reconciliations.ts';

interface Options {
  readonly all?: true;
  readonly kind?: DifferenceKind;
  readonly dryRun?: true;
  readonly reason?: string;
  readonly json?: true;
}

/** After this many differences, progress is reported. */
const PROGRESS_EVERY = 1_000;

/** `wagergate reconciliations resolve`: a person resolves one difference, several or all of a kind. */
export function reconciliationsResolveCommand(terminal: Terminal): Command {
  const command = new Command('resolve')
    .summary('marks differences as resolved')
    .description(
      'Marks differences as resolved: they no longer alert, and later comparisons that find the ' +
        'same again report them as resolved. Who and why are kept in the audit, for each of them; it cannot ' +
        'be taken back.',
    )
    .argument('<id>', 'the comparison')
    .argument('[difference...]', 'the differences, as `reconciliations show` has their ids')
    .option('--all', 'all that nobody has resolved')
    .addOption(new Option('--kind <kind>', 'of all only this kind').choices(DIFFERENCE_KINDS))
    .option('--dry-run', 'with --all: say how many of which kind, and change nothing')
    .option('--reason <why>', 'what explains it, or what was done', notBlank('--reason'))
    .option('--json', 'print the difference, or {resolved} with how many, as JSON')
    .action((id: string, differences: readonly string[], options: Options) => {
      const ids = differences.map(reconciliationId);
      const runId = reconciliationId(id);
      checkUse(ids, options);
      return withDatabase(terminal, (database) =>
        options.all === true
          ? resolveAll(terminal, database, runId, options)
          : resolveThese(terminal, database, { runId, ids }, options),
      );
    });
  return withExamples(
    command,
    { line: 'reconciliations resolve 17 4711 4712 --reason "their export was late, OPS-17"' },
    {
      line: 'reconciliations resolve 17 --all --kind missing_there --dry-run',
      note: 'how many that would be',
    },
  );
}

function checkUse(ids: readonly string[], { all, kind, dryRun, reason }: Options): void {
  if (ids.length > 0 === (all === true)) {
    throw new UsageError('give either the ids of differences, or --all');
  }
  if (all !== true && (kind ?? dryRun) !== undefined) {
    throw new UsageError('--kind and --dry-run go with --all');
  }
  if (reason === undefined && dryRun !== true) {
    throw new UsageError('say what explains it, or what was done: --reason');
  }
}

/** Each separately: one that was resolved before does not prevent the others. */
async function resolveThese(
  terminal: Terminal,
  database: Database,
  { runId, ids }: { readonly runId: string; readonly ids: readonly string[] },
  { json, ...authority }: Options,
): Promise<void> {
  const differences = new ReconciliationDifferences(database);
  const faults: string[] = [];
  let resolved = 0;
  for (const id of new Set(ids)) {
    const result = await differences.resolve(runId, id, byOf(authority));
    switch (result.kind) {
      case 'resolved':
        resolved += 1;
        if (json !== true) terminal.print(`difference ${id} is resolved`);
        else if (ids.length === 1) terminal.printJson(result.item);
        break;
      case 'resolvedBefore':
        faults.push(`somebody has already resolved difference ${id}`);
        break;
      case 'missing':
        faults.push(
          `comparison ${runId} has no difference ${id}: see \`reconciliations show ${runId}\``,
        );
        break;
      default:
        unreachable(result);
    }
  }
  if (json === true && ids.length > 1) terminal.printJson({ resolved });
  const [fault] = faults;
  if (fault === undefined) return;
  if (ids.length === 1) throw new CommandFailed(fault);
  for (const each of faults) terminal.tell(each);
  throw new CommandFailed(`${faults.length} of ${resolved + faults.length} were not resolved`);
}

/** What is done stays done, whatever fails: a second run continues with the rest. */
async function resolveAll(
  terminal: Terminal,
  database: Database,
  runId: string,
  { kind, dryRun: isDryRun, json, ...authority }: Options,
): Promise<void> {
  const dryRun = isDryRun === true;
  const runs = new ReconciliationRuns(database);
  const { operator } = await doneRun(runs, runId);
  const differences = new ReconciliationDifferences(database);
  const counts = new Map<DifferenceKind, number>();
  let resolved = 0;
  for await (const one of differences.all({ runId, kind, resolved: false })) {
    const isDone =
      dryRun || (await differences.resolve(runId, one.id, byOf(authority))).kind === 'resolved';
    if (!isDone) continue;
    counts.set(one.kind, (counts.get(one.kind) ?? 0) + 1);
    resolved += 1;
    if (!dryRun && resolved % PROGRESS_EVERY === 0) terminal.tell(`... ${resolved} differences`);
  }
  if (json === true) {
    terminal.printJson({ resolved, kinds: Object.fromEntries(counts), dryRun });
    return;
  }
  for (const [name, count] of counts) terminal.print(`${name}: ${count}`);
  const what = dryRun ? 'that would be resolved' : 'resolved';
  terminal.print(`differences of ${operator} ${what}: ${resolved}`);
  if (!dryRun) await reportOpen(terminal, runs, runId, kind);
}

/** If there are very many, only some are kept, and only those can be resolved. */
async function reportOpen(
  terminal: Terminal,
  runs: ReconciliationRuns,
  runId: string,
  kind: DifferenceKind | undefined,
): Promise<void> {
  const open = Object.entries((await runs.find(runId))?.open ?? {});
  const left = open
    .filter(([name]) => kind === undefined || name === kind)
    .reduce((sum, [, count]) => sum + count, 0);
  if (left === 0) return;
  terminal.tell(
    `left open: ${left}, which were counted but not kept one by one; compare a corrected list again`,
  );
}
