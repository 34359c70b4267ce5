import { Command } from 'commander';
import { describeProblem } from '../../config/problems.ts';
import { plain } from '../../lib/plain-text.ts';
import { loadValid } from '../configuration.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';
import { operatorSummary, operatorsTable } from '../text/operators-table.ts';

interface Options {
  readonly folder?: string;
  readonly json?: true;
}

/** `wagergate operator list`: the operators of the configuration. */
export function operatorListCommand(terminal: Terminal): Command {
  const command = new Command('list')
    .summary('lists the operators of the configuration')
    .description(
      'Lists the operators of the configuration, without their secrets. One whose file is not valid ' +
        'is left out, with a warning.',
    )
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the operators as JSON')
    .action((options: Options) => list(terminal, options));
  return withExamples(command, { line: 'operator list' }, { line: 'operator list --json' });
}

async function list(terminal: Terminal, { folder: option, json }: Options): Promise<void> {
  const { folder, configuration, problems } = await loadValid(terminal.env, option);
  const operators = [...(configuration?.operators.values() ?? [])].map(operatorSummary);
  const [first] = problems;
  if (first !== undefined && operators.length === 0) {
    throw new CommandFailed(
      `${folder} is not valid (${plain(describeProblem(first))}): see all problems with \`wagergate config check\``,
    );
  }
  for (const problem of problems) {
    terminal.tell(`warning: left out, ${plain(describeProblem(problem))}`);
  }
  if (json) terminal.printJson(operators);
  else if (operators.length === 0) terminal.tell(`no operators in ${folder}`);
  else terminal.print(operatorsTable(operators));
}
