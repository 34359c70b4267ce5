import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import { table } from '../../lib/table.ts';
import { withExamples } from '../help.ts';
import { ADMIN_OPTION, RunningGateway } from '../running-gateway.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly admin?: string;
  readonly json?: true;
}

/** `wagergate operator status`: every operator as it stands at this moment. */
export function operatorStatusCommand(terminal: Terminal): Command {
  const command = new Command('status')
    .summary('shows how every operator is doing right now')
    .description(
      'Asks a running gateway (by its admin API and ADMIN_TOKEN) how its operators are doing: breakers, ' +
        'what is pending and since when, dead letters, unresolved bets. Deliveries `go out`, are `held` by a ' +
        'person, or `wait` for the money breaker or the status. A ? means not known at present, 500000+ that ' +
        'there are more, which are still being counted.',
    )
    .option('--admin <url>', ADMIN_OPTION)
    .option('--json', 'print {items} as JSON')
    .action((options: Options) => show(terminal, options));
  return withExamples(command, { line: 'operator status' });
}

async function show(terminal: Terminal, { admin, json }: Options): Promise<void> {
  const items = await new RunningGateway(terminal.env, admin).operators();
  if (json) {
    terminal.printJson({ items });
    return;
  }
  if (items.length === 0) terminal.tell('the gateway has no operators');
  else terminal.print(table(COLUMNS, items.map(cells)));
}

const COLUMNS = [
  { title: 'operator', align: 'left' },
  { title: 'status', align: 'left' },
  { title: 'bets', align: 'left' },
  { title: 'reads', align: 'left' },
  { title: 'deliveries', align: 'left' },
  { title: 'waiting', align: 'right' },
  { title: 'since (UTC)', align: 'left' },
  { title: 'dead', align: 'right' },
  { title: 'unresolved', align: 'right' },
] as const;

type Item = Awaited<ReturnType<RunningGateway['operators']>>[number];

function cells(item: Item): string[] {
  const { id, status, breaker, hold, oldestDelivery, countsAtLeast } = item;
  const count = (name: 'openDeliveries' | 'deadDeliveries' | 'unresolvedBets') =>
    `${item[name] ?? '?'}${countsAtLeast.includes(name) ? '+' : ''}`;
  return [
    id,
    status,
    breaker.money,
    breaker.read,
    hold !== null ? 'held' : status === 'active' && breaker.money === 'closed' ? 'go out' : 'wait',
    count('openDeliveries'),
    oldestDelivery ?? '-',
    count('deadDeliveries'),
    count('unresolvedBets'),
  ].map(plain);
}
