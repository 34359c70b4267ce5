import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import type { Release } from '../../store/deliveries/release.ts';
import { byOf, recordedText } from '../caller.ts';
import { loadValid, validOperator } from '../configuration.ts';
import { type DeliveryCommandOptions, withDeliveryAdmin } from '../delivery-admin.ts';
import { UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';
import { unknownOperator, warnOfUnknownOperator } from '../unknown-operator.ts';

/** The largest value of `wallet.generation`. */
const GENERATION_MAX = 2_147_483_647;

interface Options extends DeliveryCommandOptions {
  readonly operator: string;
  readonly generation?: string;
  readonly reason?: string;
  readonly json?: true;
}

/** `wagergate deliveries release`: operations of an older wallet's bets may be delivered to the present one. */
export function deliveriesReleaseCommand(terminal: Terminal): Command {
  const command = new Command('release')
    .summary("delivers operations of older bets to an operator's new wallet")
    .description(
      'Releases operations of bets of another wallet.generation to the present wallet of the ' +
        'operator. Until then they are held: the wallet does not know those bets. Do this after ' +
        'they have been copied to it. Where the number was lowered, --generation names the higher one.',
    )
    .requiredOption('--operator <id>', 'whose bets')
    .option('--generation <n>', "up to which (default: the operator's present wallet.generation)")
    .option('--reason <why>', 'kept in the audit', recordedText('--reason'))
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print {operator, generation} as JSON')
    .action((options: Options) => release(terminal, options));
  return withExamples(command, { line: 'deliveries release --operator alpha' });
}

async function release(terminal: Terminal, options: Options): Promise<void> {
  const which = await releaseOf(terminal, options);
  await withDeliveryAdmin(terminal, options, (admin) =>
    admin.release(options.operator, which, byOf(options)),
  );
  const generation = which.upTo;
  // With --generation anything can be released, even what nobody has.
  warnOfUnknownOperator(terminal, options.folder, options.operator);
  if (options.json) {
    terminal.printJson({ operator: options.operator, generation });
    return;
  }
  terminal.print(
    `${plain(options.operator)}: bets of generations up to ${generation} are released to its wallet of ` +
      `generation ${which.to}; a running gateway delivers what waited within a second or two`,
  );
}

async function releaseOf(terminal: Terminal, options: Options): Promise<Release> {
  if (options.generation !== undefined) {
    const generation = Number(options.generation);
    const isOne = /^\d+$/.test(options.generation) && generation >= 1;
    if (isOne && generation <= GENERATION_MAX) {
      const { configuration } = await loadValid(terminal.env, options.folder);
      const present = configuration?.operators.get(options.operator)?.wallet.generation;
      // It would be reported as done, although nothing would be released.
      if (present !== undefined && generation < present) {
        throw new UsageError(
          `--generation must be at least ${present}, the present wallet.generation`,
        );
      }
      return { upTo: generation, to: present ?? generation };
    }
    throw new UsageError(`--generation must be a whole number from 1 to ${GENERATION_MAX}`);
  }
  const loaded = await loadValid(terminal.env, options.folder);
  const operator = validOperator(loaded, options.operator);
  if (operator === undefined) {
    throw unknownOperator(options.operator, [...(loaded.configuration?.operators.keys() ?? [])]);
  }
  const { generation } = operator.wallet;
  return { upTo: generation, to: generation };
}
