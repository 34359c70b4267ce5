import { Command } from 'commander';
import pkg from '../../package.json' with { type: 'json' };
import { plain } from '../lib/plain-text.ts';
import { auditExportCommand, auditListCommand } from './commands/audit.ts';
import { betCommand } from './commands/bet.ts';
import { betsResolveCommand } from './commands/bets-resolve.ts';
import { betsSearchCommand } from './commands/bets-search.ts';
import { bonusesAssignCommand } from './commands/bonuses-assign.ts';
import { booksDaysCommand } from './commands/books-days.ts';
import { booksRebuildCommand } from './commands/books-rebuild.ts';
import { booksStatementCommand } from './commands/books-statement.ts';
import { certifyCommand } from './commands/certify.ts';
import { configCheckCommand } from './commands/config-check.ts';
import { configDiffCommand } from './commands/config-diff.ts';
import { configReloadCommand } from './commands/config-reload.ts';
import { consoleLinkCommand } from './commands/console-link.ts';
import { deliveriesHoldCommand, deliveriesResumeCommand } from './commands/deliveries-hold.ts';
import { deliveriesListCommand } from './commands/deliveries-list.ts';
import { deliveriesReleaseCommand } from './commands/deliveries-release.ts';
import { deliveriesResolveCommand } from './commands/deliveries-resolve.ts';
import { deliveriesRetryCommand } from './commands/deliveries-retry.ts';
import { migrateCommand } from './commands/migrate.ts';
import { operatorBreakerCommand } from './commands/operator-breaker.ts';
import { operatorListCommand } from './commands/operator-list.ts';
import { operatorNewCommand } from './commands/operator-new.ts';
import { operatorStatusCommand } from './commands/operator-status.ts';
import { playersExportCommand, playersForgetCommand } from './commands/players-forget.ts';
import { playersImportCommand } from './commands/players-import.ts';
import { playersRevokeCommand } from './commands/players-revoke.ts';
import { pruneCommand } from './commands/prune.ts';
import { reconcileCommand } from './commands/reconcile.ts';
import {
  reconciliationsListCommand,
  reconciliationsShowCommand,
} from './commands/reconciliations.ts';
import { reconciliationsResolveCommand } from './commands/reconciliations-resolve.ts';
import { signCommand, verifyCommand } from './commands/signature.ts';
import type { Terminal } from './terminal.ts';

/** The whole command line, with every command. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('wagergate')
    .description('The command line of the gateway between a betting service and its operators.')
    .version(pkg.version)
    .addHelpText('after', ENVIRONMENT);

  program.addCommand(migrateCommand(terminal));
  program.addCommand(configCommands(terminal));
  program.addCommand(operatorCommands(terminal));
  program.addCommand(playerCommands(terminal));
  program.addCommand(betCommand(terminal));
  program.addCommand(
    group('bets', 'Bets of all operators: search, resolve.')
      .addCommand(betsSearchCommand(terminal))
      .addCommand(betsResolveCommand(terminal)),
  );
  program.addCommand(
    group(
      'deliveries',
      'Operations accepted for delivery to a wallet: list, retry, resolve, hold, resume, release.',
    )
      .addCommand(deliveriesListCommand(terminal))
      .addCommand(deliveriesRetryCommand(terminal))
      .addCommand(deliveriesResolveCommand(terminal))
      .addCommand(deliveriesHoldCommand(terminal))
      .addCommand(deliveriesResumeCommand(terminal))
      .addCommand(deliveriesReleaseCommand(terminal)),
  );
  program.addCommand(
    group('audit', 'Who changed what: list, export.')
      .addCommand(auditListCommand(terminal))
      .addCommand(auditExportCommand(terminal)),
  );
  program.addCommand(consoleCommands(terminal));
  program.addCommand(certifyCommand(terminal));
  program.addCommand(
    group('bonuses', 'Templates and bonuses of the service: assign.').addCommand(
      bonusesAssignCommand(terminal),
    ),
  );
  program.addCommand(booksCommands(terminal));
  program.addCommand(reconcileCommand(terminal));
  program.addCommand(reconciliationCommands(terminal));
  program.addCommand(pruneCommand(terminal));
  program.addCommand(signCommand(terminal));
  program.addCommand(verifyCommand(terminal));
  configureOutput(program, 'wagergate', terminal);
  return program;
}

const ENVIRONMENT = `
Environment:
  DATABASE_URL         PostgreSQL of the gateway: postgresql://user:password@host:5432/wagergate
  DATABASE_DIRECT_URL  the same database without a pooler; used instead where it is set
  GATEWAY_CONFIG       folder with gateway.yaml and operators/*.yaml (default: ./config)
  ADMIN_TOKEN          of a running gateway, for the commands that ask one
  ADMIN_HOST, ADMIN_PORT
                       where that one listens (default: 127.0.0.1, 9090)
  WAGERGATE_DEBUG      set to anything: errors come with their stack

Exit codes: 0 done, 1 failed, 2 not understood, 3 compared and different,
129, 130, 143 stopped by a lost terminal, Ctrl-C, SIGTERM.`;

function configCommands(terminal: Terminal): Command {
  return group('config', 'The configuration folder: check, diff, reload.')
    .addCommand(configCheckCommand(terminal))
    .addCommand(configDiffCommand(terminal))
    .addCommand(configReloadCommand(terminal));
}

function operatorCommands(terminal: Terminal): Command {
  return group('operator', 'The operators of the configuration: list, new, status, breaker.')
    .addCommand(operatorListCommand(terminal))
    .addCommand(operatorNewCommand(terminal))
    .addCommand(operatorStatusCommand(terminal))
    .addCommand(operatorBreakerCommand(terminal));
}

function playerCommands(terminal: Terminal): Command {
  return group('players', 'The players of all operators: import, export, forget, revoke.')
    .addCommand(playersImportCommand(terminal))
    .addCommand(playersExportCommand(terminal))
    .addCommand(playersForgetCommand(terminal))
    .addCommand(playersRevokeCommand(terminal));
}

function booksCommands(terminal: Terminal): Command {
  return group('books', 'What the wallets confirmed, day by day: days, statement, rebuild.')
    .addCommand(booksDaysCommand(terminal))
    .addCommand(booksStatementCommand(terminal))
    .addCommand(booksRebuildCommand(terminal));
}

function reconciliationCommands(terminal: Terminal): Command {
  return group('reconciliations', "Comparisons with others' lists: list, show, resolve.")
    .addCommand(reconciliationsListCommand(terminal))
    .addCommand(reconciliationsShowCommand(terminal))
    .addCommand(reconciliationsResolveCommand(terminal));
}

function consoleCommands(terminal: Terminal): Command {
  const console = group('console', 'The console of a running gateway: link.');
  return console.addCommand(consoleLinkCommand(terminal));
}

function group(name: string, description: string): Command {
  return new Command(name).description(description);
}

/** Applies to every command: where it writes, and that a usage error is one line on stderr. */
function configureOutput(command: Command, path: string, terminal: Terminal): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.print(text.trimEnd()),
    writeErr: (text) => terminal.tell(text.trimEnd()),
    outputError: (text) =>
      terminal.tell(`${plain(text.trim()).replace(/\.$/, '')}; see: ${path} --help`),
    getOutHelpWidth: () => terminal.columns ?? 100,
    getErrHelpWidth: () => terminal.columns ?? 100,
  });
  for (const child of command.commands) configureOutput(child, `${path} ${child.name()}`, terminal);
}
