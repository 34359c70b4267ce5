import { unreachable } from '../../domain/unreachable.ts';
import type { Separator } from '../../lib/csv.ts';
import { errorMessage } from '../../lib/faults.ts';
import { type Line, readLines } from '../../lib/lines.ts';
import { plain } from '../../lib/plain-text.ts';
import type { PlayerLine, PlayerTakeover } from '../../store/sessions/player-takeover.ts';
import { CommandFailed } from '../failures.ts';
import { checkPlayerLine, PLAYERS_HEADER, separatorOf } from './player-line.ts';

/** How many lines had which result. */
export interface Tally {
  /** Without the header and empty lines. */
  lines: number;
  imported: number;
  unchanged: number;
  conflicts: number;
  invalid: number;
}

export interface PlayerImport {
  readonly chunks: AsyncIterable<Buffer>;
  readonly takeover: Pick<PlayerTakeover, 'take'>;
  /** Called for every line that was not imported. */
  readonly onRefused: (number: number, why: string) => void;
  /** Called for every player before its batch is written. */
  readonly onPlayer: (player: PlayerLine) => void;
  /** Called after every batch. */
  readonly onProgress: (tally: Readonly<Tally>) => void;
}

/** A line that was not imported. */
interface Refusal {
  readonly number: number;
  readonly why: string;
}

/** A batch is one round trip: enough lines to make it cheap, few enough not to hold locks for long. */
const BATCH_LINES = 2_000;

/**
 * Imports players line by line: a bad line does not affect the others.
 * @throws CommandFailed; what was imported until then stays, and counts as unchanged the next time
 */
export async function importPlayers(source: PlayerImport): Promise<Readonly<Tally>> {
  const tally: Tally = { lines: 0, imported: 0, unchanged: 0, conflicts: 0, invalid: 0 };
  let batch: PlayerLine[] = [];
  let separator: Separator | undefined;
  let refusals: Refusal[] = [];
  for await (const line of readLines(source.chunks)) {
    if (separator === undefined) {
      separator = requiredHeader(line);
      continue;
    }
    if ('text' in line && line.text === '') continue;
    tally.lines += 1;
    const checked = checkPlayerLine(line, separator);
    if (checked.ok) {
      source.onPlayer(checked.player);
      batch.push(checked.player);
    } else {
      tally.invalid += 1;
      // Reported with its batch: conflicts are known only then, and lines are reported in order.
      refusals.push({ number: line.number, why: checked.why });
    }
    // Of a wrong file no line can be imported, and millions of refusals must not be kept until the end.
    if (batch.length + refusals.length < BATCH_LINES) continue;
    await takeBatch(source, batch, refusals, tally);
    batch = [];
    refusals = [];
  }
  if (separator === undefined) throw headerMissing('the file is empty');
  await takeBatch(source, batch, refusals, tally);
  return tally;
}

function requiredHeader(line: Line): Separator {
  const separator = separatorOf(line);
  if (separator !== undefined) return separator;
  const found = 'text' in line ? `is "${plain(line.text.slice(0, 80))}"` : line.fault;
  throw headerMissing(`line 1 ${found}`);
}

function headerMissing(found: string): CommandFailed {
  return new CommandFailed(`${found}: the first line must be ${PLAYERS_HEADER}`);
}

async function takeBatch(
  { takeover, onRefused, onProgress }: PlayerImport,
  batch: readonly PlayerLine[],
  invalid: readonly Refusal[],
  tally: Tally,
): Promise<void> {
  const [first] = batch;
  const refusals = [...invalid];
  const outcomes =
    first === undefined
      ? []
      : await takeover.take(batch).catch((cause: unknown) => {
          reportInOrder(refusals, onRefused);
          throw stopped(first.number, cause);
        });
  for (const [at, player] of batch.entries()) {
    const outcome = outcomes[at];
    switch (outcome?.kind) {
      case 'imported':
        tally.imported += 1;
        break;
      case 'unchanged':
        tally.unchanged += 1;
        break;
      case 'conflict':
        tally.conflicts += 1;
        refusals.push({ number: player.number, why: outcome.why });
        break;
      case undefined:
        throw new Error(`nothing was said of line ${player.number}`);
      default:
        return unreachable(outcome);
    }
  }
  reportInOrder(refusals, onRefused);
  if (first !== undefined) onProgress(tally);
}

function reportInOrder(refusals: readonly Refusal[], tell: PlayerImport['onRefused']): void {
  const inOrder = [...refusals].sort((a, b) => a.number - b.number);
  for (const { number, why } of inOrder) tell(number, why);
}

function stopped(lineNumber: number, cause: unknown): CommandFailed {
  const why = errorMessage(cause);
  return new CommandFailed(
    `stopped at line ${lineNumber}, PostgreSQL failed (${why}): run it again, lines that were ` +
      'imported count as unchanged',
    { cause },
  );
}
