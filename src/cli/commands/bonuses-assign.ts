import { Command } from 'commander';
import type { OperatorConfig } from '../../config/schema/schema.ts';
import { plain } from '../../lib/plain-text.ts';
import { byOf } from '../caller.ts';
import { loadValid, validOperator } from '../configuration.ts';
import { withPrisma } from '../database.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly operator: string;
  readonly template: readonly string[];
  readonly folder?: string;
}

/** `wagergate bonuses assign`: assigns templates of the service's console to an operator. */
export function bonusesAssignCommand(terminal: Terminal): Command {
  const command = new Command('assign')
    .summary("assigns templates of the service's console to an operator")
    .description(
      "Gives an operator templates that belong to nobody: made in the service's console and not " +
        'through the gateway, or asked for by two operators in equal words while the service did ' +
        'not answer. From then on the operator reads, lists and issues them, and nobody else does.',
    )
    .requiredOption('--operator <id>', 'whose they become')
    .requiredOption('--template <id...>', "the templates' ids at the service")
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .action((options: Options) => assign(terminal, options));
  return withExamples(
    command,
    { line: 'bonuses assign --operator alpha --template 57' },
    { line: 'bonuses assign --operator alpha --template 57 58' },
  );
}

async function assign(terminal: Terminal, options: Options): Promise<void> {
  const templateIds = options.template.map(templateId);
  const { operator, upstreamCid } = await accountOf(terminal, options);
  await withPrisma(terminal, async (prisma) => {
    const { assignTemplates } = await import('../../store/bonuses/assignment.ts');
    const tenant = { operatorId: operator.id, upstreamCid };
    const outcome = await assignTemplates(prisma, tenant, templateIds, byOf({}));
    if (outcome.taken.length > 0) {
      const taken = outcome.taken.map(({ templateId: id, operatorId }) => `${id} (${operatorId})`);
      throw new CommandFailed(
        `nothing assigned: another operator owns template ${taken.map(plain).join(', ')}`,
      );
    }
    for (const id of outcome.assigned) {
      terminal.print(`template ${id} now belongs to ${plain(operator.id)}`);
    }
    for (const id of outcome.unchanged) {
      terminal.print(`template ${id} already belonged to ${plain(operator.id)}`);
    }
  });
}

/** The account of the operator's calls, to which the template ids belong. */
async function accountOf(
  terminal: Terminal,
  { operator: operatorId, folder }: Options,
): Promise<{ readonly operator: OperatorConfig; readonly upstreamCid: string }> {
  const loaded = await loadValid(terminal.env, folder);
  const { configuration } = loaded;
  const operator = validOperator(loaded, operatorId);
  if (configuration === undefined || operator === undefined) {
    throw new CommandFailed(
      `no operator ${plain(operatorId)} in ${loaded.folder}: check --folder and ` +
        '`wagergate config check`',
    );
  }
  const { Accounts } = await import('../../bonuses/service/account.ts');
  const account = new Accounts(() => configuration).of(operator);
  if (account.exclusive) {
    throw new CommandFailed(
      `${plain(operatorId)} has a partner account of its own (bonuses.upstream): all its templates are its own`,
    );
  }
  return { operator, upstreamCid: account.cid };
}

function templateId(text: string): string {
  if (/^(?:0|[1-9]\d{0,15})$/.test(text)) return text;
  throw new UsageError(`${plain(text)} is not a template's id: give the service's whole number`);
}
