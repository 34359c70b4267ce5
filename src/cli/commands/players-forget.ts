import { Command } from 'commander';
import { unreachable } from '../../domain/unreachable.ts';
import { plain, plainJsonLine } from '../../lib/plain-text.ts';
import { byOf, notBlank, recordedText } from '../caller.ts';
import { withDatabase, withPrisma } from '../database.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import type { Terminal } from '../terminal.ts';

/** `wagergate players export`: what the journal keeps about a player. */
export function playersExportCommand(terminal: Terminal): Command {
  const command = new Command('export')
    .summary('prints what the journal keeps of a player, one JSON object per line')
    .description(
      'Prints what the journal keeps of a player, one JSON object per line: the player with sessions ' +
        'and totals, then each bet with its messages. Bonuses are at the service. That it was done ' +
        'is kept in the audit.',
    )
    .argument('<userId>', 'the player, as the service knows it (`bets search` shows it)')
    .option('--reason <why>', 'kept in the audit', recordedText('--reason'))
    .action((userId: string, options: { readonly reason?: string }) =>
      exportAll(terminal, userId, options),
    );
  return withExamples(command, { line: 'players export 6531f9bc-0e5d-4f10-8c67-0d9d0ba3ab6d' });
}

/** `wagergate players forget`: blanks the personal data that is kept about a player. */
export function playersForgetCommand(terminal: Terminal): Command {
  const command = new Command('forget')
    .summary('blanks names, addresses and free text in what is kept of a player')
    .description(
      "Blanks names, addresses and free text in the messages and wallets' answers that are kept of " +
        'a player. Ids and money facts stay, and the player may play again. Refused while a bet ' +
        'of the player is open. Kept in the audit; it cannot be taken back.',
    )
    .argument('<userId>', 'the player, as the service knows it (`bets search` shows it)')
    .requiredOption('--reason <why>', 'kept in the audit', notBlank('--reason'))
    .option('--json', 'print {bets, messages, attempts} as JSON')
    .action((userId: string, options: { readonly reason: string; readonly json?: true }) =>
      forget(terminal, userId, options),
    );
  return withExamples(command, {
    line: 'players forget 6531f9bc-0e5d-4f10-8c67-0d9d0ba3ab6d --reason "asked for it, DSR-4"',
  });
}

async function exportAll(
  terminal: Terminal,
  userId: string,
  options: { readonly reason?: string },
): Promise<void> {
  const [{ AuditLog }, { BetSearch }, { BetTimelines }, { exportPlayer }, { PlayerRecords }] =
    await Promise.all([
      import('../../store/audit/audit-log.ts'),
      import('../../store/bets/search.ts'),
      import('../../store/bets/timeline.ts'),
      import('../../store/players/export.ts'),
      import('../../store/players/player-records.ts'),
    ]);
  await withPrisma(terminal, (prisma) =>
    withDatabase(terminal, async (database) => {
      const players = new PlayerRecords(database);
      const player = await players.find({ userId });
      if (player === undefined) throw noSuchPlayer(userId);
      await new AuditLog(prisma).append(byOf(options), {
        action: 'player.exported',
        subject: `player ${userId}`,
        operator: player.operator,
      });
      const bets = new BetSearch(database);
      const timelines = new BetTimelines(prisma, undefined, Number.MAX_SAFE_INTEGER);
      for await (const line of exportPlayer({ players, bets, timelines }, userId)) {
        terminal.print(plainJsonLine(line));
        if (terminal.isUnread) break;
      }
    }),
  );
}

async function forget(
  terminal: Terminal,
  userId: string,
  { reason, json }: { readonly reason: string; readonly json?: true },
): Promise<void> {
  const { forgetPlayer } = await import('../../store/players/forget.ts');
  const forgotten = await withPrisma(terminal, (prisma) =>
    forgetPlayer(prisma, userId, byOf({ reason })),
  );
  switch (forgotten.kind) {
    case 'missing':
      throw noSuchPlayer(userId);
    case 'open':
      throw new CommandFailed(
        `bets of ${plain(userId)} are open (${forgotten.transactionIds.map(plain).join(', ')}): ` +
          'wait until they have ended, or resolve what is dead',
      );
    case 'forgotten': {
      const { kind: _, ...counts } = forgotten;
      if (json) terminal.printJson(counts);
      else terminal.print(`${plain(userId)} is forgotten; bets gone through: ${counts.bets}`);
      return;
    }
    default:
      return unreachable(forgotten);
  }
}

function noSuchPlayer(userId: string): CommandFailed {
  return new CommandFailed(
    `no player ${plain(userId)}: it is compared exactly; \`wagergate bets search\` shows userIds`,
  );
}
