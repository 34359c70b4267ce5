import { Command } from 'commander';
import { describeProblem } from '../../config/problems.ts';
import { loadFolder } from '../configuration.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import { operatorsTable, summaryOf } from '../operators-table.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly folder?: string;
  readonly json?: true;
}

/** `wagergate operator list`: who is in the configuration. */
export function operatorListCommand(terminal: Terminal): Command {
  const command = new Command('list')
    .summary('lists the operators of the configuration')
    .description('Lists the operators of the configuration, without their secrets.')
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the operators as JSON')
    .action((options: Options) => list(terminal, options));
  return withExamples(command, { line: 'operator list' }, { line: 'operator list --json' });
}

async function list(terminal: Terminal, { folder, json }: Options): Promise<void> {
  const loaded = await loadFolder(terminal.env, folder);
  if (!loaded.ok) {
    const [first] = loaded.problems;
    const example = first === undefined ? '' : ` (${describeProblem(first)})`;
    throw new CommandFailed(
      `${loaded.folder} is not valid${example}: see all by \`wagergate config check\``,
    );
  }
  const operators = [...loaded.configuration.operators.values()].map(summaryOf);
  if (json) terminal.printJson(operators);
  else if (operators.length === 0) terminal.tell(`no operators in ${loaded.folder}`);
  else terminal.print(operatorsTable(operators));
}
