import { Command, Option } from 'commander';
import { PERSON_ROLES, type PersonRole } from '../../domain/caller.ts';
import { withExamples } from '../help.ts';
import { ADMIN_OPTION, RunningGateway } from '../running-gateway.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly role: PersonRole;
  readonly admin?: string;
  readonly json?: true;
}

/** `wagergate console link`: a link that signs one browser in, once. */
export function consoleLinkCommand(terminal: Terminal): Command {
  const command = new Command('link')
    .summary('prints a link that signs one browser in, once')
    .description(
      'Asks a running gateway (by its admin API and ADMIN_TOKEN) for a link to its console. Whoever ' +
        'opens it first, within 60 seconds, is signed in with the role; the audit names the actor `token`.',
    )
    .addOption(
      new Option('--role <role>', 'what the browser may do there')
        .choices(PERSON_ROLES)
        .default('admin'),
    )
    .option('--admin <url>', ADMIN_OPTION)
    .option('--json', 'print {url, role, expiresAt} as JSON')
    .action(async ({ role, admin, json }: Options) => {
      const link = await new RunningGateway(terminal.env, admin).signInLink(role);
      if (json) terminal.printJson(link);
      else terminal.print(link.url);
    });
  return withExamples(
    command,
    { line: 'console link', note: 'of the gateway on this machine' },
    { line: 'console link --role viewer --admin http://gateway.internal:9090' },
  );
}
