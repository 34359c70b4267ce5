import { randomBytes } from 'node:crypto';
import { Command, Option } from 'commander';
import { describeProblem } from '../../config/problems.ts';
import type { Configuration } from '../../config/schema/schema.ts';
import {
  type ConfigurationDiff,
  diffOf,
  isEmpty,
  type OperatorChange,
  type SettingChange,
  warningsOf,
} from '../../config/settings-diff.ts';
import { type ConfigurationView, viewOf } from '../../config/settings-view.ts';
import { plain } from '../../lib/plain-text.ts';
import { configFolder, loadFolder } from '../configuration.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import { ADMIN_OPTION, adminAddress, adminToken, RunningGateway } from '../running-gateway.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly folder?: string;
  readonly admin?: string;
  readonly against?: string;
  readonly exitCode?: true;
  readonly json?: true;
}

/** `wagergate config diff`: what would change if this folder took effect. */
export function configDiffCommand(terminal: Terminal): Command {
  const command = new Command('diff')
    .summary('shows what a reload would change')
    .description(
      'Shows what would change if the configuration folder took effect, compared with a running ' +
        'gateway (by its admin API and ADMIN_TOKEN) or with another folder: operators that are ' +
        'added, removed or changed, setting by setting with defaults; of a secret only that it ' +
        'changed. A line marked ! may cost money if it is not meant, such as a wallet at another address.',
    )
    .option('--folder <dir>', 'the configuration folder (default: GATEWAY_CONFIG, else ./config)')
    .option('--admin <url>', ADMIN_OPTION)
    .addOption(
      new Option(
        '--against <dir>',
        'compare with this folder instead of a running gateway',
      ).conflicts('admin'),
    )
    .option('--exit-code', 'exit with 1 when anything would change')
    .option('--json', 'print {gateway, operators} as JSON')
    .action((options: Options) => diff(terminal, options));
  return withExamples(
    command,
    { line: 'config diff', note: 'this folder against the gateway on this machine' },
    { line: 'config diff --folder new --against /etc/wagergate' },
    { line: 'config diff --admin http://gateway.internal:9090 --exit-code --json' },
  );
}

async function diff(terminal: Terminal, options: Options): Promise<void> {
  const configuration = await validFolder(terminal, options.folder);
  const { before, key, name } = await configurationInForce(terminal, options);
  const found = await diffOf(before, await viewOf(configuration, key));
  if (options.json) terminal.printJson(found);
  else if (isEmpty(found)) terminal.print(`nothing would change against ${name}`);
  else terminal.print(diffText(found));
  if (options.exitCode && !isEmpty(found)) {
    throw new CommandFailed(`${configFolder(terminal.env, options.folder)} differs from ${name}`);
  }
}

/** The configuration in force, and the key of its fingerprints. */
async function configurationInForce(
  terminal: Terminal,
  options: Options,
): Promise<{ before: ConfigurationView; key: string; name: string }> {
  if (options.against !== undefined) {
    const key = randomBytes(32).toString('hex');
    const before = await viewOf(await validFolder(terminal, options.against), key);
    return { before, key, name: options.against };
  }
  const key = adminToken(terminal.env, ', or compare with a folder by --against <dir>');
  const name = adminAddress(terminal.env, options.admin);
  const gateway = new RunningGateway(terminal.env, options.admin);
  return { before: await gateway.configuration(), key, name: `the gateway at ${name}` };
}

/** @throws CommandFailed after every problem of the folder was printed */
async function validFolder(terminal: Terminal, option: string | undefined): Promise<Configuration> {
  const loaded = await loadFolder(terminal.env, option);
  if (loaded.ok) return loaded.configuration;
  for (const problem of loaded.problems) terminal.tell(plain(describeProblem(problem)));
  throw new CommandFailed(`${loaded.folder} is not valid: correct it first`);
}

/** A diff for people: `+` is added, `-` removed, `~` changed, `!` needs attention. */
function diffText({ gateway, operators }: ConfigurationDiff): string {
  const lines = gateway.length === 0 ? [] : ['~ gateway.yaml', ...gateway.map(settingLine)];
  for (const change of operators) lines.push(...operatorLines(change));
  return lines.map(plain).join('\n');
}

function operatorLines(change: OperatorChange): readonly string[] {
  const sign = { added: '+', removed: '-', changed: '~' }[change.kind];
  return [
    `${sign} operator ${change.id}${change.kind === 'changed' ? '' : `: ${change.kind}`}`,
    ...(change.kind === 'changed' ? change.settings.map(settingLine) : []),
    ...warningsOf(change).map((warning) => `  ! ${warning}`),
  ];
}

function settingLine(setting: SettingChange): string {
  if ('secret' in setting) return `    ${setting.path}: changed (a secret, not shown)`;
  const { path, before, after } = setting;
  return `    ${path}: ${before ?? '(not set)'} -> ${after ?? '(not set)'}`;
}
