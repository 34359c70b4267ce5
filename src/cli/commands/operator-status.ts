import { Command } from 'commander';
import type { CallClass } from '../../domain/operation.ts';
import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import { withExamples } from '../help.ts';
import { ADMIN_OPTION, type LeftOpen, RunningGateway } from '../running-gateway.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly admin?: string;
  readonly json?: true;
}

/** `wagergate operator status`: the present state of every operator. */
export function operatorStatusCommand(terminal: Terminal): Command {
  const command = new Command('status')
    .summary('shows how every operator is doing right now')
    .description(
      'Asks a running gateway (by its admin API and ADMIN_TOKEN) how its operators are doing: breakers, ' +
        'what is pending and since when, dead letters, unresolved bets. A breaker that is open or closed ' +
        '`by hand` stays so until a person sets it to auto. Deliveries `go out`, are `held` by a ' +
        'person, or `wait` for the money breaker, the end of a maintenance or PostgreSQL; `go out, 3 held` ' +
        'where three belong to another wallet.generation and wait for `deliveries release`. A ? means not known at present, 500000+ that ' +
        'there are more, which are still being counted. An operator with `no file` has something open all ' +
        'the same: its file may have been removed by mistake. A warning says so where PostgreSQL or Redis is ' +
        'away or takes no writes.',
    )
    .option('--admin <url>', ADMIN_OPTION)
    .option('--json', 'print {items, withoutFile} as JSON')
    .action((options: Options) => show(terminal, options));
  return withExamples(command, { line: 'operator status' });
}

async function show(terminal: Terminal, { admin, json }: Options): Promise<void> {
  const states = await new RunningGateway(terminal.env, admin).operators();
  const { items, withoutFile, dependencies } = states;
  if (json) {
    terminal.printJson({ items, withoutFile });
    return;
  }
  const takesWrites = dependencies.postgresql !== 'read_only';
  const rows = [
    ...items.map((item) => cells(item, takesWrites)),
    ...withoutFile.map(cellsWithoutFile),
  ];
  if (items.length === 0) terminal.tell('the gateway has no operators');
  if (rows.length > 0) terminal.print(table(COLUMNS, rows));
  for (const trouble of troublesOf(dependencies)) terminal.tell(`warning: ${trouble}`);
  for (const { id, releasedTo } of items) {
    if (releasedTo === null) continue;
    terminal.tell(
      `warning: ${plain(id)} takes no bets: they were released to wallet.generation ${releasedTo}, and its file here has a lower one`,
    );
  }
  for (const { id } of withoutFile) {
    terminal.tell(
      `warning: ${plain(id)} has no file in the gateway's operators/: what is open of it waits until the file returns`,
    );
  }
}

const COLUMNS = columns(
  [
    'operator',
    'status',
    'bets',
    'reads',
    'deliveries',
    'waiting',
    'since (UTC)',
    'dead',
    'unresolved',
  ],
  ['waiting', 'dead', 'unresolved'],
);

type States = Awaited<ReturnType<RunningGateway['operators']>>;
type Item = States['items'][number];

function cells(item: Item, takesWrites: boolean): string[] {
  const { id, status, breaker, hold } = item;
  // Also for a suspended operator: it only begins nothing new.
  const goOut = takesWrites && status !== 'maintenance' && breaker.money === 'closed';
  // If deliveries cannot be counted, as while PostgreSQL is away, they are not sent either.
  const isKnown = item.openDeliveries !== null;
  const deliveries = hold !== null ? 'held' : !goOut ? 'wait' : isKnown ? goOutCell(item) : '?';
  const breakers = [breakerCell(item, 'money'), breakerCell(item, 'read')];
  return [id, status, ...breakers, deliveries, ...openCells(item)].map(plain);
}

/** Those of another `wallet.generation` wait for a release while all others go out. */
function goOutCell({ heldDeliveries, countsAtLeast }: Item): string {
  const held = heldDeliveries ?? 0;
  const isAtLeast = countsAtLeast.includes('openDeliveries');
  return held === 0 ? 'go out' : `go out, ${held}${isAtLeast ? '+' : ''} held`;
}

/** One that was set and forgotten is not opened or closed by the wallet any more, whatever that does. */
function breakerCell({ breaker, override }: Item, name: CallClass): string {
  const isSet = override[name] !== 'auto';
  return isSet ? `${breaker[name]} by hand` : breaker[name];
}

/** What concerns all operators: without it, the table would look well while no bet is placed. */
function troublesOf({ postgresql, redis }: States['dependencies']): readonly string[] {
  return [
    ...(postgresql === 'read_only'
      ? ['PostgreSQL takes no writes: until it does again, no bet is placed']
      : []),
    ...(postgresql === 'down'
      ? ['PostgreSQL does not answer: while it is away, no bet is placed']
      : []),
    ...(redis === 'down'
      ? [
          'Redis does not answer in time, or takes no writes: all goes on without it, but a gateway that starts needs it',
        ]
      : []),
  ];
}

function cellsWithoutFile(item: LeftOpen): string[] {
  return [item.id, 'no file', '-', '-', 'wait', ...openCells(item)].map(plain);
}

function openCells(item: LeftOpen): readonly string[] {
  const count = (name: 'openDeliveries' | 'deadDeliveries' | 'unresolvedBets') =>
    `${item[name] ?? '?'}${item.countsAtLeast.includes(name) ? '+' : ''}`;
  return [
    count('openDeliveries'),
    item.oldestDelivery ?? '-',
    count('deadDeliveries'),
    count('unresolvedBets'),
  ];
}
