import { plain } from '../lib/plain-text.ts';
import type { ReconciliationItem } from '../store/reconciliation/run-item.ts';
import type { ReconciliationRuns } from '../store/reconciliation/runs.ts';
import { CommandFailed, UsageError } from './failures.ts';

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
