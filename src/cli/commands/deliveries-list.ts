import { Command, InvalidArgumentError, Option } from 'commander';
import { DELIVERABLE_OPERATIONS, type DeliverableOperation } from '../../domain/operation.ts';
import { DELIVERY_STATES, type DeliveryState } from '../../store/deliveries/delivery-item.ts';
import { withDeliveryAdmin } from '../delivery-admin.ts';
import { withExamples } from '../help.ts';
import { readCursor } from '../query-options.ts';
import type { Terminal } from '../terminal.ts';
import { deliveriesTable } from '../text/deliveries-table.ts';
import { warnOfUnknownOperator } from '../unknown-operator.ts';

interface Options {
  readonly operator?: string;
  readonly state?: DeliveryState;
  readonly operation?: DeliverableOperation;
  readonly limit: number;
  readonly cursor?: string;
  readonly folder?: string;
  readonly json?: true;
}

/** Breakers exist only in the gateway's processes; the admin API and the console count what waits for one as held. */
const BREAKERS_UNSEEN =
  'note: what waits for an open breaker is listed as pending here; `wagergate operator status` shows whose';

const LIMIT_DEFAULT = 100;
const LIMIT_MAX = 10_000;

/** `wagergate deliveries list`: operations accepted for delivery, and their state. */
export function deliveriesListCommand(terminal: Terminal): Command {
  const command = new Command('list')
    .summary('lists deliveries to wallets')
    .description(
      'Lists the operations that the gateway has accepted for delivery to wallets, oldest first. ' +
        'Held ones wait until their operator takes calls again or, where the bet is of another ' +
        'wallet.generation, until somebody releases it; dead ones wait for a person. What waits for ' +
        'an open breaker is pending here: only a running gateway knows it (`operator status`).',
    )
    .option('--operator <id>', 'only of this operator')
    .addOption(new Option('--state <state>', 'only in this state').choices(DELIVERY_STATES))
    .addOption(
      new Option('--operation <name>', 'only of this kind').choices(DELIVERABLE_OPERATIONS),
    )
    .option('--limit <count>', 'how many at most', readLimit, LIMIT_DEFAULT)
    .option('--cursor <cursor>', 'continue where the previous list ended', readCursor)
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print {items, nextCursor} as JSON')
    .action((options: Options) => list(terminal, options));
  return withExamples(
    command,
    { line: 'deliveries list --state dead' },
    { line: 'deliveries list --operator alpha --operation rollback --json' },
  );
}

async function list(terminal: Terminal, { folder, json, ...query }: Options): Promise<void> {
  const options = folder === undefined ? {} : { folder };
  const page = await withDeliveryAdmin(terminal, options, (admin) => admin.list(query));
  if (json) {
    terminal.printJson(page);
    return;
  }
  if (page.items.length === 0) {
    terminal.tell('no such deliveries');
    if (query.operator !== undefined) warnOfUnknownOperator(terminal, folder, query.operator);
  } else terminal.print(deliveriesTable(page.items));
  if (query.state === 'held' || query.state === 'pending') terminal.tell(BREAKERS_UNSEEN);
  if (page.nextCursor !== null) terminal.tell(`there are more: add --cursor ${page.nextCursor}`);
}

function readLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${LIMIT_MAX}.`);
}
