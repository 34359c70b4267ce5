import type { Clock } from '../domain/clock.ts';
import type { WhichDay } from '../store/books/open-operations.ts';
import type { StatementChecks } from '../store/books/statement-checks.ts';
import type { ClosedDay, Statements } from '../store/books/statements.ts';
import type { Violation } from '../store/books/violations.ts';
import { type ChangedDay, changedStatements } from './statement-digest.ts';

/** After this long a look begins no other day. */
const LOOK_MS = 1_000;
const BEGINNING: WhichDay = { operatorId: '', day: '-infinity' };

export interface CheckingStatements {
  readonly checks: StatementChecks;
  readonly statements: Pick<Statements, 'pages'>;
  readonly clock: Clock;
  /** Asked between pages; true ends the look. */
  readonly isStopping: () => boolean;
}

/** Checks all closed days in turn: are their lines still those that were closed? */
export class StatementRounds {
  readonly #checking: CheckingStatements;
  #after = BEGINNING;

  constructor(checking: CheckingStatements) {
    this.#checking = checking;
  }

  /**
   * Goes on with the round for about a second, then checks again the days on record as changed.
   * @returns how many changed days it found @throws GatewayError; the next round goes on behind the failed day
   */
  async look(): Promise<number> {
    try {
      const changed = await this.#goOn();
      await this.#readAgain();
      return changed;
    } catch (error) {
      if (error instanceof Stopping) return 0;
      throw error;
    }
  }

  async #goOn(): Promise<number> {
    const { checks, clock } = this.#checking;
    const endsMs = clock.monotonicMs() + LOOK_MS;
    let changed = 0;
    do {
      const closed = await checks.next(this.#after);
      this.#after = closed ?? BEGINNING;
      if (closed === undefined) break;
      if ((await this.#changesOf(closed)).length === 0) continue;
      // Once more before it is recorded: a rebuild may have mended it in between.
      const changes = await this.#changesOf(closed);
      await checks.note(changes.map(violationOf));
      changed += changes.length;
    } while (clock.monotonicMs() < endsMs);
    return changed;
  }

  async #readAgain(): Promise<void> {
    const { checks } = this.#checking;
    for (const closed of await checks.changed()) {
      if ((await this.#changesOf(closed)).length === 0) await checks.forget(closed);
    }
  }

  #changesOf(closed: ClosedDay) {
    return changedStatements({ pages: (...of) => this.#pages(...of) }, [closed]);
  }

  /** Nobody who ends a process waits until ten million lines are read. */
  async *#pages(...of: Parameters<Statements['pages']>): ReturnType<Statements['pages']> {
    const { statements, isStopping } = this.#checking;
    for await (const rows of statements.pages(...of)) {
      if (isStopping()) throw new Stopping();
      yield rows;
    }
  }
}

class Stopping extends Error {}

function violationOf({ closed, now }: ChangedDay): Violation {
  const { operatorId, day, movements, sha256 } = closed;
  return {
    rule: 'statement',
    subject: `${operatorId}/${day}`,
    operatorId,
    found: `${now.movements} movements, sha256 ${now.sha256}`,
    expected: `${movements} movements, sha256 ${sha256}`,
  };
}
