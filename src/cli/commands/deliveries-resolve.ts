import { Command } from 'commander';
import { BY_CHARS_MAX } from '../../domain/caller.ts';
import { unreachable } from '../../domain/unreachable.ts';
import { byOf, notBlank } from '../caller.ts';
import {
  type DeliveryCommandOptions,
  deliveryId,
  noSuchDelivery,
  withDeliveryAdmin,
} from '../delivery-admin.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';
import { deliveryName } from '../text/deliveries-table.ts';

interface Options extends DeliveryCommandOptions {
  readonly by: string;
  readonly reason: string;
  readonly json?: true;
}

/** `wagergate deliveries resolve`: a person has settled a dead delivery at the wallet. */
export function deliveriesResolveCommand(terminal: Terminal): Command {
  const command = new Command('resolve')
    .summary('marks a dead delivery as resolved by hand')
    .description(
      'Marks a dead delivery as resolved by hand, so that it no longer alerts. Nothing is sent ' +
        'to the wallet, now or later, and this cannot be taken back: correct it there first, and ' +
        'compare the number. A result that nothing has overtaken counts from then on as what the ' +
        'wallet holds. Who and why are kept in the journal.',
    )
    .argument('<id>', 'the delivery, as `deliveries list` shows it')
    .requiredOption(
      '--by <who>',
      'who answers for it: a person, or a ticket',
      notBlank('--by', BY_CHARS_MAX),
    )
    .requiredOption('--reason <why>', 'what was done at the wallet', notBlank('--reason'))
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the delivery as JSON')
    .action((id: string, options: Options) => resolve(terminal, deliveryId(id), options));
  return withExamples(command, {
    line: 'deliveries resolve 4711 --by "Ann, OPS-17" --reason "credited by the operator by hand"',
  });
}

async function resolve(terminal: Terminal, id: string, options: Options): Promise<void> {
  const { by, reason } = options;
  const result = await withDeliveryAdmin(terminal, options, (admin) =>
    admin.resolve(id, by, reason, byOf({ reason })),
  );
  switch (result.kind) {
    case 'missing':
      throw noSuchDelivery(id);
    case 'changing':
      throw new CommandFailed(`delivery ${id} is changing at this moment: look again`);
    case 'notResolvable':
      throw new CommandFailed(
        `delivery ${id} is ${result.state}: only dead ones are resolved, the gateway still ` +
          'delivers those that wait',
      );
    case 'resolved': {
      if (options.json) terminal.printJson(result.item);
      else terminal.print(`${deliveryName(result.item)} is resolved`);
      return;
    }
    default:
      return unreachable(result);
  }
}
