import { GatewayError } from '../../domain/errors.ts';
import type { Database } from '../database.ts';
import { Batcher } from '../sql/batcher.ts';
import { BATCHING } from '../sql/batching.ts';
import { Gathering } from '../sql/gathering.ts';
import { LONG_AGO, withRepeats, writeLater } from '../sql/unreported-commit.ts';
import { FINISH, FINISH_AGAIN, LOOK_UP_OUTCOMES } from './finish-statement.ts';
import { type Locked, whenFree } from './locked-row.ts';
import type { Finished, Outcome } from './outcome.ts';

/** For outcomes of deliveries: nobody waits for them, and a statement costs PostgreSQL more than its rows. */
const GATHERING = { waitMs: 20, enough: 32 };

/** `unreported`: an earlier statement may have written it, but did not report it. */
type Written = Finished | { readonly kind: 'unreported' };

/**
 * Writes outcomes of attempts and frees their bets, in batches, since a backlog has many at once. An outcome that did
 * not reach PostgreSQL is sent again; otherwise its bet would stay busy until the lease ends
 * (docs/money-safety.md, rule 15).
 */
export class BetOutcomes {
  readonly #database: Database;
  readonly #finishes: Batcher<Outcome, Written | Locked>;
  /** Outcomes already sent in a statement that got no reply. */
  readonly #sentBefore = new WeakSet<Outcome>();
  readonly #gathering = new Gathering(GATHERING);

  constructor(database: Database) {
    this.#database = database;
    this.#finishes = new Batcher({
      ...BATCHING,
      run: (outcomes) => withRepeats(() => this.#write(outcomes)),
    });
  }

  /**
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written, and may still be
   *   written as a late one while its attempt owns the bet
   */
  async finish(outcome: Outcome): Promise<Finished> {
    if (outcome.caller === undefined) await this.#gathering.wait();
    else this.#gathering.release();
    const written = await this.#finish(outcome).catch((error: unknown) => {
      if (error instanceof GatewayError) void this.#finishLate(outcome);
      throw error;
    });
    if (written.kind !== 'unreported') return written;
    throw new GatewayError('DATABASE_UNAVAILABLE', 'PostgreSQL did not report what it wrote');
  }

  async #finishLate({ caller, ...outcome }: Outcome): Promise<void> {
    const late = { ...outcome, caller: caller && { ...caller, before: LONG_AGO } };
    this.#sentBefore.add(late);
    await writeLater(() => this.#finish(late));
  }

  #finish(outcome: Outcome): Promise<Written> {
    return whenFree(() => this.#finishes.add(outcome));
  }

  async #write(outcomes: readonly Outcome[]): Promise<readonly (Written | Locked)[]> {
    const isRepeat = outcomes.some((outcome) => this.#sentBefore.has(outcome));
    try {
      const rows = await this.#database.run(isRepeat ? FINISH_AGAIN : FINISH, outcomes);
      const [written, locked] = [rows.filter(isFree), rows.filter((row) => !isFree(row))];
      const isLate = new Map(written.map((row) => [row.attemptId, row.isLate]));
      for (const row of isRepeat ? await this.#writtenBefore(outcomes, isLate) : []) {
        isLate.set(row.attemptId, row.isLate);
      }
      return outcomes.map((outcome) => {
        const late = isLate.get(outcome.attemptId);
        if (late !== undefined) return { kind: late ? 'late' : 'committed' };
        if (locked.some(({ attemptId }) => attemptId === outcome.attemptId)) {
          return { kind: 'locked' };
        }
        return { kind: this.#sentBefore.has(outcome) ? 'unreported' : 'lost' };
      });
    } catch (error) {
      if (error instanceof GatewayError) {
        for (const outcome of outcomes) this.#sentBefore.add(outcome);
      }
      throw error;
    }
  }

  /** Looks up what earlier statements wrote: a caller has to get the answer on record, as copies do (I3). */
  async #writtenBefore(outcomes: readonly Outcome[], known: ReadonlyMap<string, boolean>) {
    const doubtful = outcomes.filter(
      (outcome) =>
        outcome.caller !== undefined &&
        this.#sentBefore.has(outcome) &&
        !known.has(outcome.attemptId),
    );
    return doubtful.length === 0 ? [] : await this.#database.run(LOOK_UP_OUTCOMES, doubtful);
  }
}

const isFree = (row: { readonly isFree: boolean }) => row.isFree;
