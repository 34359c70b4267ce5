import { Command, Option } from 'commander';
import { CALL_CLASSES, type CallClass } from '../../domain/operation.ts';
import { plain } from '../../lib/plain-text.ts';
import { recordedText } from '../caller.ts';
import { withExamples } from '../help.ts';
import { ADMIN_OPTION, RunningGateway } from '../running-gateway.ts';
import type { Terminal } from '../terminal.ts';
import { warnOfUnknownOperator } from '../unknown-operator.ts';

interface Options {
  readonly class: CallClass;
  readonly state: 'open' | 'closed' | 'auto';
  readonly reason?: string;
  readonly admin?: string;
}

/** `wagergate operator breaker`: a person sets an operator's breaker. */
export function operatorBreakerCommand(terminal: Terminal): Command {
  const command = new Command('breaker')
    .summary("sets an operator's breaker, or lets it work by itself")
    .description(
      'Asks a running gateway (by its admin API and ADMIN_TOKEN) to keep a breaker open (nothing is ' +
        'sent) or closed (everything is), or to let it work by itself. Reaches every process within ' +
        'a second or two and survives restarts.',
    )
    .argument('<id>', 'the operator')
    .addOption(
      new Option('--class <class>', 'calls that move money, or that read')
        .choices(CALL_CLASSES)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--state <state>', 'the state to keep; auto: the wallet alone decides')
        .choices(['open', 'closed', 'auto'])
        .makeOptionMandatory(),
    )
    .option('--reason <why>', 'kept in the audit', recordedText('--reason'))
    .option('--admin <url>', ADMIN_OPTION)
    .action(async (id: string, { class: callClass, state, reason, admin }: Options) => {
      const gateway = new RunningGateway(terminal.env, admin);
      try {
        await gateway.setBreaker(id, { class: callClass, state, reason: reason || undefined });
      } catch (error) {
        warnOfUnknownOperator(terminal, undefined, id);
        throw error;
      }
      terminal.print(
        state === 'auto'
          ? `the ${callClass} breaker of ${plain(id)} works by itself again`
          : `the ${callClass} breaker of ${plain(id)} is kept ${state}`,
      );
    });
  return withExamples(
    command,
    { line: 'operator breaker alpha --class money --state open --reason "their order, OPS-17"' },
    { line: 'operator breaker alpha --class money --state auto' },
  );
}
