import { DIFFERENCE_KINDS, type DifferenceKind } from '../../domain/reconciliation.ts';
import { plain, plainJson } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import type { DifferenceItem, ListedThere } from '../../store/reconciliation/difference-item.ts';
import type { ReconciliationDifferences } from '../../store/reconciliation/differences.ts';
import type { ReconciliationItem } from '../../store/reconciliation/run-item.ts';
import type { Terminal } from '../terminal.ts';

/** How many differences of each kind are shown to people; the rest is in the JSON. */
const SHOWN_OF_KIND = 10;
/** Of a bet that both lists have. */
const KINDS_OF_KNOWN = ['agree', 'amount_differs', 'state_differs', 'currency_differs'] as const;

/** Prints a finished run: counts, and its differences, unresolved ones first. */
export async function printReconciliation(
  terminal: Terminal,
  run: ReconciliationItem,
  differences: ReconciliationDifferences,
  isJson: boolean,
): Promise<void> {
  if (isJson) await printJson(terminal, run, differences);
  else await printText(terminal, run, differences);
}

/** Written while it is read, so that a hundred thousand differences need not be in memory. */
async function printJson(
  terminal: Terminal,
  run: ReconciliationItem,
  differences: ReconciliationDifferences,
): Promise<void> {
  const { counts, id, new: newCount, open, columns } = run;
  const head = plainJson({ id, counts, new: newCount, open, columns }).slice(0, -2);
  terminal.print(`${head},\n  "differences": [`);
  let before: string | undefined;
  for await (const item of differences.all({ runId: id })) {
    if (before !== undefined) terminal.print(`${before},`);
    before = plainJson(item);
  }
  terminal.print(before === undefined ? ']}' : `${before}\n]}`);
}

async function printText(
  terminal: Terminal,
  run: ReconciliationItem,
  differences: ReconciliationDifferences,
): Promise<void> {
  const { id, operator, from, to, timeZone, counts, open } = run;
  const days = from === to ? from : `${from} to ${to}`;
  const { lines } = run.progress;
  const which = `reconciliation ${id}: ${operator}, ${days} (${timeZone})`;
  terminal.print(`${which}, ${lines} lines, compared ${run.columns.join(', ')}`);
  terminal.print('');
  const rows = DIFFERENCE_KINDS.filter((kind) => (counts?.[kind] ?? 0) > 0).map((kind) => [
    kind,
    String(counts?.[kind] ?? 0),
    String(open?.[kind] ?? 0),
  ]);
  const titles = columns(['kind', 'bets', 'open'], ['bets', 'open']);
  terminal.print(table(titles, [['agree', String(counts?.agree ?? 0), ''], ...rows]));
  for (const kind of DIFFERENCE_KINDS) {
    if ((open?.[kind] ?? 0) > 0) await printKind(terminal, run, kind, differences);
  }
  if (counts !== null && counts.missing_here > 0 && isNothingKnown(counts)) {
    terminal.tell('nothing of the list is known here: is it this operator, and its transactionId?');
  }
}

/** No bet of the list is one of the journal's, not even one that differs. */
function isNothingKnown(counts: NonNullable<ReconciliationItem['counts']>): boolean {
  return KINDS_OF_KNOWN.every((kind) => counts[kind] === 0);
}

async function printKind(
  terminal: Terminal,
  { id, open }: ReconciliationItem,
  kind: DifferenceKind,
  differences: ReconciliationDifferences,
): Promise<void> {
  const { items } = await differences.list({ runId: id, kind, resolved: false });
  terminal.print(`\n${kind}`);
  for (const item of items.slice(0, SHOWN_OF_KIND)) terminal.print(plain(lineOf(item)));
  const more = (open?.[kind] ?? 0) - Math.min(items.length, SHOWN_OF_KIND);
  if (more > 0) terminal.print(`  and ${more} more: see them with --json`);
}

function lineOf({ id, transactionId, line, here, there, reason, known }: DifferenceItem): string {
  const sides = [
    here === null ? undefined : `here ${sideOf(here)}`,
    there === null ? undefined : `there ${sideOf(there)}`,
  ];
  const parts = [
    [transactionId, line === null ? undefined : `(line ${line})`].filter(Boolean).join(' '),
    sides.filter(Boolean).join(', '),
    reason ?? '',
    known ? 'known before' : '',
  ];
  return `  [${id}] ${parts.filter((part) => part !== '').join(': ')}`;
}

function sideOf({ state, stake, payout, currency, copies }: ListedThere): string {
  const words = [
    state,
    stake === null ? null : `stake ${stake}`,
    payout === null ? null : `payout ${payout}`,
    currency,
    copies === undefined ? null : `${copies} times`,
  ];
  return words.filter((word) => word !== null).join(' ');
}
