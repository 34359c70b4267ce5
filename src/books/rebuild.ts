import { BooksJournal } from '../store/books/books-journal.ts';
import { BooksTransaction } from '../store/books/books-transaction.ts';
import type { Position } from '../store/books/position.ts';
import { type RebuildDifference, RebuildSteps } from '../store/books/rebuild-steps.ts';
import { type ClosedDay, Statements } from '../store/books/statements.ts';
import { keepBooks } from './keep-books.ts';
import { changedStatements } from './statement-digest.ts';

export interface RebuildOptions {
  /** From the configuration. */
  readonly timeZone: string;
  /** `2026-11-20`: movements confirmed before it stay; undefined: rebuild all that the journal still has. */
  readonly fromDay: string | undefined;
  /** Reports each step to a waiting person. */
  readonly log: (line: string) => void;
}

/** A rebuild would have changed a closed statement. Nothing was changed. */
export class RebuildRefused extends Error {
  constructor(why: string) {
    super(why);
    this.name = 'RebuildRefused';
  }
}

/**
 * Books the journal again, in one transaction: the same journal makes the same rows. Movements whose entries
 * were pruned stay. @throws RebuildRefused if a closed statement or the time zone of closed days would change
 * @throws Error of `pg`; then nothing has changed
 */
export async function rebuildBooks(
  databaseUrl: string,
  { timeZone, fromDay, log }: RebuildOptions,
): Promise<RebuildDifference> {
  return await BooksTransaction.run(databaseUrl, true, async (transaction) => {
    const steps = new RebuildSteps(transaction);
    const journal = new BooksJournal(transaction);
    const { timeZone: kept, at: bookedTo } = await journal.cursor();
    if (kept !== undefined && kept !== timeZone) {
      if (fromDay !== undefined || (await steps.hasStatements())) {
        throw new RebuildRefused(
          `the books are kept in ${kept}, books.timeZone is ${timeZone}: ` +
            'another one is possible without --from, and only until a day is closed',
        );
      }
      log(`days of ${timeZone} from now on, no longer of ${kept}`);
    }
    const start = fromDay === undefined ? undefined : await steps.startOf(fromDay, timeZone);
    const from = await steps.firstOf(start);
    if (from === undefined)
      return { before: 0, after: 0, added: 0, changed: 0, examples: [], days: [] };
    await steps.takeBack(from, timeZone);
    let movements = 0;
    for (;;) {
      const kept = await keepBooks(journal, timeZone);
      if (kept.kind === 'overtaken') throw new Error('the cursor moved inside its own transaction');
      movements += kept.movements.length;
      if (kept.kind === 'done') break;
      log(`${movements} movements`);
    }
    const touched = await steps.touchedStatements(from);
    if (touched.length > 0) log(`${touched.length} closed statements`);
    const changed = await changedStatements(new Statements(transaction), touched);
    if (changed.length > 0) {
      throw await refusal(
        steps,
        from,
        changed.map(({ closed }) => closed),
      );
    }
    return await steps.difference(from, bookedTo);
  });
}

async function refusal(
  steps: RebuildSteps,
  from: Position,
  changed: readonly ClosedDay[],
): Promise<RebuildRefused> {
  const which = changed.slice(0, 5).map(({ operatorId, day }) => `${operatorId}/${day}`);
  const bets = await steps.changedBets(from, changed);
  // Without a bet the statement itself was changed, or a movement that is not booked again: both past the triggers.
  const why =
    bets.length === 0
      ? 'although the journal books the same movements (somebody has written past the triggers)'
      : `with the movements of ${bets.join(', ')}`;
  return new RebuildRefused(
    `${changed.length} closed statement(s) would become others (${which.join(', ')}), ${why}: ` +
      'nothing was changed; see docs/runbooks/books.md',
  );
}
