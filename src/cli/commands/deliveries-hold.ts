import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import { byOf, notBlank, recordedText } from '../caller.ts';
import { withPrisma } from '../database.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';
import { operatorWithoutFile, warnOfUnknownOperator } from '../unknown-operator.ts';

interface Options {
  readonly operator: string;
  readonly reason?: string;
  readonly folder?: string;
  readonly json?: true;
}

/** `wagergate deliveries hold`: nothing is delivered to an operator until a person resumes it. */
export function deliveriesHoldCommand(terminal: Terminal): Command {
  const command = new Command('hold')
    .summary("holds an operator's deliveries")
    .description(
      "Holds an operator's deliveries, in every process and across restarts: no attempt is made " +
        'and the horizon stands still, until `deliveries resume`. Calls in flight are finished; ' +
        'what the service sends meanwhile is still tried once, within its callback.',
    )
    .requiredOption('--operator <id>', 'whose deliveries')
    .requiredOption('--reason <why>', 'kept in the audit', notBlank('--reason'))
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print {operator, hold} as JSON')
    .action((options: Options) => change(terminal, options, 'hold'));
  return withExamples(command, {
    line: 'deliveries hold --operator alpha --reason "they restore a backup, OPS-17"',
  });
}

/** `wagergate deliveries resume`: ends a hold. */
export function deliveriesResumeCommand(terminal: Terminal): Command {
  const command = new Command('resume')
    .summary("resumes an operator's held deliveries")
    .description(
      "Ends the hold of an operator's deliveries. A running gateway delivers what waited within a " +
        'second or two, with the horizon that was left.',
    )
    .requiredOption('--operator <id>', 'whose deliveries')
    .option('--reason <why>', 'kept in the audit', recordedText('--reason'))
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print {operator, hold} as JSON')
    .action((options: Options) => change(terminal, options, 'resume'));
  return withExamples(command, { line: 'deliveries resume --operator alpha' });
}

async function change(
  terminal: Terminal,
  options: Options,
  verb: 'hold' | 'resume',
): Promise<void> {
  const { operator, folder, json } = options;
  const hold = await withPrisma(terminal, async (prisma) => {
    const slip = verb === 'hold' ? operatorWithoutFile(terminal, folder, operator) : undefined;
    // An operator whose file was deleted may have players; a mistyped id has none, and must not be held.
    if (slip && (await prisma.player.findFirst({ where: { operatorId: operator } })) === null) {
      throw slip;
    }
    const { DeliveryHolds } = await import('../../store/deliveries/holds.ts');
    const holds = new DeliveryHolds(prisma);
    if (!(await holds[verb](operator, byOf(options)))) {
      // After a typo, people must not believe that nobody holds the operator that they meant.
      if (verb === 'resume') warnOfUnknownOperator(terminal, folder, operator);
      throw new CommandFailed(
        verb === 'hold'
          ? `the deliveries of ${plain(operator)} are already held: see \`wagergate audit list\``
          : `nobody holds the deliveries of ${plain(operator)}`,
      );
    }
    return (await holds.all()).get(operator) ?? null;
  });
  warnOfUnknownOperator(terminal, folder, operator);
  if (json) terminal.printJson({ operator, hold });
  else if (hold !== null) terminal.print(`the deliveries of ${plain(operator)} are held`);
  else terminal.print(`the deliveries of ${plain(operator)} are resumed`);
}
