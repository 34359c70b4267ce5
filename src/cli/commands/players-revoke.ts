import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import { notBlank } from '../caller.ts';
import { withExamples } from '../help.ts';
import { ADMIN_OPTION, RunningGateway } from '../running-gateway.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly reason: string;
  readonly admin?: string;
  readonly json?: true;
}

/** `wagergate players revoke`: ends the sessions of a player. */
export function playersRevokeCommand(terminal: Terminal): Command {
  const command = new Command('revoke')
    .summary('ends all sessions of a player')
    .description(
      'Asks a running gateway (by its admin API and ADMIN_TOKEN) to end all sessions of a player, at ' +
        'every replica. The player has to sign in again; open bets still settle and roll back.',
    )
    .argument('<userId>', 'the player, as the service knows it (`bets search` shows it)')
    .requiredOption('--reason <why>', 'kept in the audit', notBlank('--reason'))
    .option('--admin <url>', ADMIN_OPTION)
    .option('--json', 'print {revoked} as JSON')
    .action(async (userId: string, { reason, admin, json }: Options) => {
      const gateway = new RunningGateway(terminal.env, admin);
      const revoked = await gateway.revokeSessions(userId, { reason });
      if (json) terminal.printJson({ revoked });
      else terminal.print(`sessions of ${plain(userId)} ended: ${revoked}`);
    });
  return withExamples(command, {
    line: 'players revoke 6531f9bc-0e5d-4f10-8c67-0d9d0ba3ab6d --reason "stolen phone, DSR-4"',
  });
}
