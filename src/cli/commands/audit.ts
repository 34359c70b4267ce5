import { Command, Option } from 'commander';
import { plain, plainJsonLine } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import type { AuditQuery, AuditRow } from '../../store/audit/audit-log.ts';
import { withPrisma } from '../database.ts';
import { UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readCursor, readTime } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';
import { timeOf } from '../text/bet-text.ts';
import { warnOfUnknownOperator } from '../unknown-operator.ts';

interface Options extends AuditQuery {
  readonly json?: true;
}

/** `wagergate audit list`: who changed what, newest first. */
export function auditListCommand(terminal: Terminal): Command {
  const command = filtered(new Command('list'))
    .summary('lists who changed what')
    .description(
      'Lists what people and tokens changed, newest first, a hundred per page. What was before, and ' +
        'the whole of what is after where that is long, --json has.',
    )
    .option('--cursor <cursor>', 'continue where the previous list ended', readCursor)
    .option('--json', 'print {items, nextCursor} as JSON')
    .action((options: Options) => list(terminal, options));
  return withExamples(
    command,
    { line: 'audit list --operator alpha' },
    { line: 'audit list --action delivery.resolve --from 2026-11-01' },
  );
}

/** `wagergate audit export`: the whole audit, for archiving. */
export function auditExportCommand(terminal: Terminal): Command {
  const command = filtered(new Command('export'))
    .summary('prints the audit, one JSON object per line')
    .description(
      'Prints everything in the audit that matches, newest first, one JSON object per line.',
    )
    .action((options: Options) => exportAll(terminal, options));
  return withExamples(command, { line: 'audit export --from 2026-11-01 --to 2026-12-01' });
}

function filtered(command: Command): Command {
  return command
    .option('--actor <actor>', 'only of this person or token')
    .addOption(new Option('--action <action>', 'only of this kind, such as delivery.retry'))
    .option('--operator <id>', 'only about this operator')
    .option('--from <time>', 'from this time or day (UTC) on', readTime)
    .option('--to <time>', 'before this time or day (UTC)', readTime);
}

/** A typo must not look like an action that nobody has done. @throws UsageError */
async function refuseUnknown(action: string | undefined): Promise<void> {
  if (action === undefined) return;
  // Imported here: it brings the database's client, which no other command should wait for.
  const { AUDIT_ACTIONS } = await import('../../store/audit/audited.ts');
  if (AUDIT_ACTIONS.some((known) => known === action)) return;
  throw new UsageError(`--action must be one of ${AUDIT_ACTIONS.join(', ')}`);
}

async function list(terminal: Terminal, { json, ...query }: Options): Promise<void> {
  await refuseUnknown(query.action);
  const page = await withPrisma(terminal, async (prisma) => {
    const { AuditLog } = await import('../../store/audit/audit-log.ts');
    return await new AuditLog(prisma).page(query);
  });
  if (json) {
    terminal.printJson(page);
    return;
  }
  if (page.items.length === 0) {
    terminal.tell('nothing of that is in the audit');
    if (query.operator !== undefined) warnOfUnknownOperator(terminal, undefined, query.operator);
  } else terminal.print(table(COLUMNS, page.items.map(cells)));
  if (page.nextCursor !== null) terminal.tell(`there are more: add --cursor ${page.nextCursor}`);
}

async function exportAll(terminal: Terminal, query: Options): Promise<void> {
  await refuseUnknown(query.action);
  await withPrisma(terminal, async (prisma) => {
    const { AuditLog } = await import('../../store/audit/audit-log.ts');
    for await (const row of new AuditLog(prisma).all(query)) {
      terminal.print(plainJsonLine(JSON.stringify(row)));
      if (terminal.isUnread) break;
    }
  });
}

const COLUMNS = columns([
  'time (UTC)',
  'actor',
  'from',
  'action',
  'what',
  'after',
  'operator',
  'why',
]);

function cells(row: AuditRow): string[] {
  const { at, actor, address, action, subject, after, operator, reason } = row;
  const what = [subject, afterText(after), operator ?? '-', reason ?? '-'];
  return [timeOf(at), actor, address, action, ...what].map(plain);
}

/** A list of changed settings can be long; `--json` has all of it, and what was before. */
const AFTER_CHARS_MAX = 60;

/** What a change has left: one that opened a breaker and one that left it to itself look the same otherwise. */
function afterText(after: unknown): string {
  if (typeof after !== 'object' || after === null) return '-';
  const words = Object.entries(after).map(
    ([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const text = [...words.join(', ')];
  return text.length > AFTER_CHARS_MAX
    ? `${text.slice(0, AFTER_CHARS_MAX - 1).join('')}…`
    : text.join('');
}
