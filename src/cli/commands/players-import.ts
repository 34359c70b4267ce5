import { Command } from 'commander';
import { plain } from '../../lib/plain-text.ts';
import type { PlayerLine, PlayerTakeover } from '../../store/sessions/player-takeover.ts';
import { configFolder, operatorFiles } from '../configuration.ts';
import { withReadyDatabase } from '../database.ts';
import { CommandFailed } from '../failures.ts';
import { withExamples } from '../help.ts';
import { readChunks } from '../input.ts';
import { untilInterrupted } from '../interruption.ts';
import type { Tally } from '../onboarding/player-import.ts';
import type { Terminal } from '../terminal.ts';

interface Options {
  readonly dryRun?: true;
  readonly folder?: string;
  readonly json?: true;
}

const PROGRESS_EVERY_MS = 2_000;

/** `wagergate players import`: imports the ids that an aggregator has already assigned. */
export function playersImportCommand(terminal: Terminal): Command {
  const command = new Command('import')
    .summary('imports players with their userIds from a CSV file')
    .description(
      'Imports players with the userIds under which the service already knows them, so that their ' +
        'limits and history continue. The CSV file has the header operator,operatorUser,userId ' +
        'and one player per line. A player that exists already stays as it is: the same line again ' +
        'changes nothing; another userId for a player, or a userId that another player has, is a ' +
        'conflict, reported on stderr with its line number like every line that cannot be read. ' +
        'Exits with 1 if any line was not imported.',
    )
    .argument('<file>', 'the CSV file, UTF-8; - for stdin')
    .option('--dry-run', 'say what would happen, and write nothing')
    .option(
      '--folder <dir>',
      'warn of operators without a file there (default: GATEWAY_CONFIG, else ./config)',
    )
    .option('--json', 'print the summary as JSON')
    .action((file: string, options: Options) => importFile(terminal, file, options));
  return withExamples(
    command,
    { line: 'players import players.csv --dry-run' },
    { line: 'players import players.csv 2> refused.txt' },
    { line: 'players import - --json < players.csv' },
  );
}

async function importFile(terminal: Terminal, file: string, options: Options): Promise<void> {
  const warn = operatorWarnings(terminal, options.folder);
  const dryRun = options.dryRun === true;
  await withReadyDatabase(terminal, async (url) => {
    const takeover = await openTakeover(url, dryRun);
    try {
      const tally = await untilInterrupted(
        () => terminal.tell('stopping after the lines under way ...'),
        (signal) => takeLines(terminal, file, { takeover, warn, dryRun, signal }),
      );
      report(terminal, tally, dryRun, options.json === true);
    } finally {
      await takeover.close();
    }
  });
}

interface Taking {
  readonly takeover: PlayerTakeover;
  readonly warn: (player: PlayerLine) => void;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
}

/** @throws Interrupted once the batch under way is written: the person learns how much of the file that was */
async function takeLines(
  terminal: Terminal,
  file: string,
  { takeover, warn, dryRun, signal }: Taking,
): Promise<Readonly<Tally>> {
  // Imported here: they bring the configuration's schemas, which no other command should wait for.
  const { importPlayers } = await import('../onboarding/player-import.ts');
  const showProgress = progress(terminal);
  let imported = 0;
  try {
    return await importPlayers({
      chunks: readChunks(terminal, file, signal),
      takeover,
      onRefused: (number, why) => terminal.tell(plain(`line ${number}: ${why}`)),
      onPlayer: warn,
      onProgress: (tally) => {
        imported = tally.imported;
        showProgress(tally);
      },
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    const done = dryRun ? 'nothing was written' : `${imported} lines were imported`;
    terminal.tell(`${done}: run it again, lines that were imported count as unchanged`);
    throw signal.reason;
  }
}

async function openTakeover(url: string, dryRun: boolean): Promise<PlayerTakeover> {
  const { PlayerTakeover: Takeover, TakeoverBusy } = await import(
    '../../store/sessions/player-takeover.ts'
  );
  try {
    return await Takeover.open(url, { dryRun });
  } catch (error) {
    if (!(error instanceof TakeoverBusy)) throw error;
    throw new CommandFailed(`${error.message}: wait for it, then run this again`, { cause: error });
  }
}

/** Warns once about each operator that is not in the configuration: a typo, or one to be added later. */
function operatorWarnings(
  terminal: Terminal,
  option: string | undefined,
): (player: PlayerLine) => void {
  const folder = configFolder(terminal.env, option);
  const known = operatorFiles(folder);
  if (known === undefined) {
    // A folder given by name must exist; the default one is only used if it does.
    if (option !== undefined) throw new CommandFailed(`${folder}/operators cannot be read`);
    terminal.tell(`warning: ${folder}/operators cannot be read: operators are not checked`);
    return () => undefined;
  }
  const warned = new Set(known);
  return ({ operatorId, number }) => {
    if (warned.has(operatorId)) return;
    warned.add(operatorId);
    terminal.tell(`warning: line ${number}: no file of operator ${operatorId} in ${folder}`);
  };
}

function progress(terminal: Terminal): (tally: Readonly<Tally>) => void {
  let shownAtMs = performance.now();
  return ({ lines }) => {
    const nowMs = performance.now();
    if (nowMs - shownAtMs < PROGRESS_EVERY_MS) return;
    shownAtMs = nowMs;
    terminal.tell(`... ${lines} lines`);
  };
}

/** @throws CommandFailed when not every line was imported */
function report(terminal: Terminal, tally: Readonly<Tally>, dryRun: boolean, json: boolean): void {
  const { lines, imported, unchanged, conflicts, invalid } = tally;
  if (json) terminal.printJson({ dryRun, ...tally });
  else {
    terminal.print(`lines      ${lines}${dryRun ? ' (dry run: nothing is written)' : ''}`);
    terminal.print(`imported   ${imported}`);
    terminal.print(`unchanged  ${unchanged}`);
    terminal.print(`conflicts  ${conflicts}`);
    terminal.print(`invalid    ${invalid}`);
  }
  const refused = conflicts + invalid;
  if (refused === 0) return;
  throw new CommandFailed(
    `${refused} of ${lines} lines ${dryRun ? 'would not be' : 'were not'} imported: correct them and ` +
      'run it again, the others then count as unchanged',
  );
}
