import { Command } from 'commander';
import { describeProblem } from '../../config/problems.ts';
import { loadFolder } from '../configuration.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import { operatorsTable, summaryOf } from '../operators-table.ts';
import { plain } from '../plain-text.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly folder?: string;
  readonly json?: true;
}

/** `wagergate config check`: whether the gateway would take this configuration, and why not. */
export function configCheckCommand(terminal: Terminal): Command {
  const command = new Command('check')
    .summary('lists what is wrong with the configuration, or its operators')
    .description(
      'Reads gateway.yaml and operators/*.yaml as the gateway would at its start, with the ' +
        'environment variables they name, and lists the operators or every problem found.',
    )
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--json', 'print the result as JSON')
    .action((options: Options) => check(terminal, options));
  return withExamples(
    command,
    { line: 'config check' },
    { line: 'config check --folder /etc/wagergate --json' },
  );
}

async function check(terminal: Terminal, { folder: option, json }: Options): Promise<void> {
  const loaded = await loadFolder(terminal.env, option);
  const { folder } = loaded;
  if (!loaded.ok) {
    const { problems } = loaded;
    if (json) terminal.printJson({ ok: false, folder, problems });
    else for (const problem of problems) terminal.tell(plain(describeProblem(problem)));
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    throw new CommandFailed(`${count} in ${folder}: the gateway would not take it`);
  }
  const operators = [...loaded.configuration.operators.values()].map(summaryOf);
  if (json) {
    terminal.printJson({ ok: true, folder, operators });
    return;
  }
  const count = operators.length === 1 ? '1 operator' : `${operators.length} operators`;
  terminal.print(`${folder} is valid: ${count}`);
  if (operators.length > 0) terminal.print(`\n${operatorsTable(operators)}`);
}
