import { Command } from 'commander';
import { describeProblem, type Problem } from '../../config/problems.ts';
import type { Configuration, OperatorConfig } from '../../config/schema/schema.ts';
import { doubtfulSettings, weakOfGateway, weakOfOperator } from '../../config/warnings.ts';
import { plain } from '../../lib/plain-text.ts';
import { columns, table } from '../../lib/table.ts';
import type { Probed } from '../../wallets/probe.ts';
import { loadValid, type PartlyLoadedFolder, validOperator } from '../configuration.ts';
import { CommandFailed, UsageError } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';
import { operatorSummary, operatorsTable } from '../text/operators-table.ts';
import { unknownOperator } from '../unknown-operator.ts';

interface Options {
  readonly folder?: string;
  readonly probe?: true;
  readonly operator?: string;
  readonly json?: true;
}

/** `wagergate config check`: whether the gateway would accept this configuration, and why not. */
export function configCheckCommand(terminal: Terminal): Command {
  const command = new Command('check')
    .summary('lists what is wrong with the configuration, or its operators')
    .description(
      'Reads gateway.yaml and operators/*.yaml as the gateway would at start, with the ' +
        'environment variables they name, and lists the operators or every problem found. With ' +
        '--probe each wallet is asked, in signed form, for the balance of a player that does not ' +
        'exist: that moves no money, and a healthy wallet refuses it with a code.',
    )
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--probe', 'ask every wallet a harmless question; exits with 1 unless all are healthy')
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
  const loaded = await loadValid(terminal.env, options.folder);
  const { folder, configuration, problems } = loaded;
  if (options.operator !== undefined) {
    const operator = validOperator(loaded, options.operator);
    const known = [...(configuration?.operators.keys() ?? [])];
    if (operator === undefined) throw unknownOperator(options.operator, known);
    await probe(terminal, { ...loaded, warnings: warningsOf(operator) }, [operator], options);
    return;
  }
  const asks = options.probe && (problems.length === 0 || (configuration?.operators.size ?? 0) > 0);
  if (asks && configuration !== undefined) {
    const warnings = warningsOfAll(configuration);
    await probe(terminal, { ...loaded, warnings }, [...configuration.operators.values()], options);
  } else if (problems.length > 0 || configuration === undefined) {
    if (options.json) terminal.printJson({ ok: false, folder, problems });
    else printProblems(terminal, problems);
  } else printOperators(terminal, folder, configuration, options);
  if (problems.length > 0) {
    const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
    throw new CommandFailed(`${count} in ${folder}: the gateway would not take it`);
  }
}

function printProblems(terminal: Terminal, problems: readonly Problem[]): void {
  for (const problem of problems) terminal.tell(plain(describeProblem(problem)));
}

function printWarnings(terminal: Terminal, warnings: readonly Problem[]): void {
  for (const warning of warnings) terminal.tell(`warning: ${plain(describeProblem(warning))}`);
}

/** Settings that are accepted, but should be improved. */
function warningsOf(operator: OperatorConfig): readonly Problem[] {
  return [...weakOfOperator(operator), ...doubtfulSettings(operator)];
}

function warningsOfAll({ gateway, operators }: Configuration): readonly Problem[] {
  return [...weakOfGateway(gateway), ...[...operators.values()].flatMap(warningsOf)];
}

function printOperators(
  terminal: Terminal,
  folder: string,
  configuration: Configuration,
  { json }: Options,
): void {
  const operators = [...configuration.operators.values()].map(operatorSummary);
  const warnings = warningsOfAll(configuration);
  if (json) {
    terminal.printJson({ ok: true, folder, operators, warnings });
    return;
  }
  printWarnings(terminal, warnings);
  const count = operators.length === 1 ? '1 operator' : `${operators.length} operators`;
  terminal.print(`${folder} is valid: ${count}`);
  if (operators.length > 0) terminal.print(`\n${operatorsTable(operators)}`);
}

interface ProbedFolder extends Pick<PartlyLoadedFolder, 'folder' | 'problems'> {
  readonly warnings: readonly Problem[];
}

/** Probes the operators whose files are valid, whatever is wrong with the others. */
async function probe(
  terminal: Terminal,
  { folder, problems, warnings }: ProbedFolder,
  operators: readonly OperatorConfig[],
  { json, operator }: Options,
): Promise<void> {
  // Imported here: it brings the HTTP client, which no other command should wait for.
  const { probeWallets } = await import('../../wallets/probe.ts');
  const wallets = await probeWallets(operators);
  const unwell = wallets.filter(({ result }) => result !== 'ok');
  const valid = problems.length === 0;
  if (json) {
    const ok = unwell.length === 0 && (valid || operator !== undefined);
    const wrong = { ...(valid ? {} : { problems }), ...(warnings.length > 0 && { warnings }) };
    terminal.printJson({ ok, folder, wallets, ...wrong });
  } else {
    printProblems(terminal, problems);
    printWarnings(terminal, warnings);
    if (wallets.length === 0) terminal.tell(`${folder} is valid, and has no operators`);
    else terminal.print(`${folder} is ${valid ? 'valid' : 'not valid'}\n\n${probeTable(wallets)}`);
  }
  if (unwell.length > 0) {
    throw new CommandFailed(`${unwell.length} of ${wallets.length} wallets did not answer well`);
  }
}

/** One line per wallet, in columns. */
function probeTable(probed: readonly Probed[]): string {
  return table(
    columns(['operator', 'result', 'took', 'wallet', 'details'], ['took']),
    probed.map(({ operator, result, latencyMs, wallet, detail }) => [
      operator,
      result,
      `${latencyMs} ms`,
      wallet,
      plain(detail),
    ]),
  );
}
