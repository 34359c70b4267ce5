import { Command } from 'commander';
import { describeProblem } from '../../config/problems.ts';
import type { Configuration, OperatorConfig } from '../../config/schema.ts';
import { loadFolder } from '../configuration.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import { operatorsTable, summaryOf } from '../operators-table.ts';
import { plain } from '../plain-text.ts';
import { unknownOperator } from '../suggestions.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly folder?: string;
  readonly probe?: true;
  readonly operator?: string;
  readonly json?: true;
}

/** `wagergate config check`: whether the gateway would take this configuration, and why not. */
export function configCheckCommand(terminal: Terminal): Command {
  const command = new Command('check')
    .summary('lists what is wrong with the configuration, or its operators')
    .description(
      'Reads gateway.yaml and operators/*.yaml as the gateway would at its start, with the ' +
        'environment variables they name, and lists the operators or every problem found. With ' +
        '--probe each wallet is asked, in signed form, for the balance of a player that does not ' +
        'exist: that moves no money, and a wallet that is well refuses it with a code.',
    )
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--probe', 'ask every wallet a harmless question; exits with 1 unless all are well')
    .option('--operator <id>', 'with --probe: ask only the wallet of this operator')
    .option('--json', 'print the result as JSON')
    .action((options: Options) => check(terminal, options));
  return withExamples(
    command,
    { line: 'config check' },
    { line: 'config check --folder /etc/wagergate --json' },
    { line: 'config check --probe --operator alpha' },
  );
}

async function check(terminal: Terminal, options: Options): Promise<void> {
  if (options.operator !== undefined && options.probe === undefined) {
    throw new UsageError('--operator says whose wallet to ask: give --probe as well');
  }
  const loaded = await loadFolder(terminal.env, options.folder);
  const { folder } = loaded;
  if (!loaded.ok) {
    const { problems } = loaded;
    if (options.json) terminal.printJson({ ok: false, folder, problems });
    else for (const problem of problems) terminal.tell(plain(describeProblem(problem)));
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    throw new CommandFailed(`${count} in ${folder}: the gateway would not take it`);
  }
  const { configuration } = loaded;
  if (options.probe) await probe(terminal, folder, configuration, options);
  else tellOperators(terminal, folder, configuration, options);
}

function tellOperators(
  terminal: Terminal,
  folder: string,
  configuration: Configuration,
  { json }: Options,
): void {
  const operators = [...configuration.operators.values()].map(summaryOf);
  if (json) {
    terminal.printJson({ ok: true, folder, operators });
    return;
  }
  const count = operators.length === 1 ? '1 operator' : `${operators.length} operators`;
  terminal.print(`${folder} is valid: ${count}`);
  if (operators.length > 0) terminal.print(`\n${operatorsTable(operators)}`);
}

async function probe(
  terminal: Terminal,
  folder: string,
  configuration: Configuration,
  { operator, json }: Options,
): Promise<void> {
  // Imported here: they bring the HTTP client, which no other command should wait for.
  const { probeWallets } = await import('../probe.ts');
  const { probeTable } = await import('../probe-table.ts');
  const wallets = await probeWallets(chosen(configuration, operator));
  const unwell = wallets.filter(({ result }) => result !== 'ok');
  if (json) terminal.printJson({ ok: unwell.length === 0, folder, wallets });
  else if (wallets.length === 0) terminal.tell(`${folder} is valid, and has no operators`);
  else terminal.print(`${folder} is valid\n\n${probeTable(wallets)}`);
  if (unwell.length > 0) {
    throw new CommandFailed(`${unwell.length} of ${wallets.length} wallets did not answer well`);
  }
}

/** @throws UsageError when there is no such operator */
function chosen({ operators }: Configuration, id: string | undefined): readonly OperatorConfig[] {
  if (id === undefined) return [...operators.values()];
  const operator = operators.get(id);
  if (operator === undefined) throw unknownOperator(id, [...operators.keys()]);
  return [operator];
}
