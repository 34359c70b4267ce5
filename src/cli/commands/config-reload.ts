import { Command } from 'commander';
import { describeProblem } from '../../config/problems.ts';
import { plain } from '../../lib/plain-text.ts';
import { recordedText } from '../caller.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import { ADMIN_OPTION, RunningGateway } from '../running-gateway.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly reason?: string;
  readonly admin?: string;
  readonly json?: true;
}

/** `wagergate config reload`: makes a running gateway read its folder again. */
export function configReloadCommand(terminal: Terminal): Command {
  const command = new Command('reload')
    .summary('makes a running gateway read its configuration again')
    .description(
      'Asks a running gateway (by its admin API and ADMIN_TOKEN) to read its folder at once; by ' +
        'itself it does so within two seconds of a change. An invalid file leaves its last good ' +
        'version in force. Exits with 1 if anything is invalid.',
    )
    .option('--reason <why>', 'kept in the audit', recordedText('--reason'))
    .option('--admin <url>', ADMIN_OPTION)
    .option('--json', 'print {result, changed, problems} as JSON')
    .action((options: Options) => reload(terminal, options));
  return withExamples(command, { line: 'config reload --reason "new wallet of alpha, OPS-17"' });
}

async function reload(terminal: Terminal, { reason, admin, json }: Options): Promise<void> {
  const reloaded = await new RunningGateway(terminal.env, admin).reload({
    reason: reason || undefined,
  });
  const { changed, problems, result } = reloaded;
  if (json) terminal.printJson(reloaded);
  else {
    for (const problem of problems) terminal.tell(plain(describeProblem(problem)));
    const changes = [
      ...(changed.gateway ? ['~ gateway.yaml'] : []),
      ...changed.added.map((id) => `+ operator ${id}`),
      ...changed.updated.map((id) => `~ operator ${id}`),
      ...changed.removed.map((id) => `- operator ${id}`),
    ];
    terminal.print(changes.length === 0 ? unchanged(result) : changes.map(plain).join('\n'));
  }
  if (result === 'invalid') {
    throw new CommandFailed('not everything is valid: the last good version stays in force there');
  }
}

/** A change that the gateway has read by itself, within two seconds, is none any more: it is in force. */
function unchanged(result: 'ok' | 'invalid'): string {
  return `nothing has changed${result === 'ok' ? ': what the gateway reads in the folder is in force' : ''}`;
}
