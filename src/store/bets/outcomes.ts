import type { Bet } from '../../domain/bet.ts';
import { GatewayError } from '../../domain/errors.ts';
import { afterOutcome, promiseAfter } from '../../domain/finish.ts';
import type { Database } from '../database.ts';
import { Batcher } from '../sql/batcher.ts';
import { BATCHING } from '../sql/batching.ts';
import { Gathering } from '../sql/gathering.ts';
import { withRepeats, writeLater } from '../sql/unreported-commit.ts';
import type { DecidedOutcome } from './finish-parameters.ts';
import { FINISH, LOOK_UP_OUTCOMES, RECORD_LOST } from './finish-statement.ts';
import { becameOf, type Locked, type Written, whenFree } from './locked-row.ts';
import type { Finished, Outcome } from './outcome.ts';

/** An earlier statement may have written it without a reply. */
type Unreported = { readonly kind: 'unreported' };

/** For outcomes of deliveries: nobody waits, and a statement costs PostgreSQL more than its rows. */
const GATHERING = { waitMs: 20, enough: 32 };

/**
 * Writes outcomes and frees their bets, in batches. An outcome that did not reach PostgreSQL is sent again: otherwise
 * its bet would be busy until the lease ends (docs/money-safety.md, rule 15).
 */
export class BetOutcomes {
  readonly #database: Database;
  readonly #find: (transactionId: string) => Promise<Bet | undefined>;
  readonly #finishes: Batcher<DecidedOutcome, Written | Locked>;
  /** Outcomes of statements that got no reply. */
  readonly #sentBefore = new WeakSet<Outcome>();
  readonly #gathering = new Gathering(GATHERING);

  /** @param find reads the present bet */
  constructor(database: Database, find: (transactionId: string) => Promise<Bet | undefined>) {
    this.#database = database;
    this.#find = find;
    this.#finishes = new Batcher({
      ...BATCHING,
      run: (decided) => withRepeats(() => this.#write(decided)),
    });
  }

  /**
   * @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written, and may still be written as a
   *   late one while its attempt owns the bet
   */
  async finish(outcome: Outcome): Promise<Finished> {
    if (outcome.caller === undefined) await this.#gathering.wait();
    else this.#gathering.release();
    const written = await this.#decideAndWrite(outcome, false).catch((error: unknown) => {
      const isAnswered = outcome.caller !== undefined;
      if (error instanceof GatewayError) {
        void writeLater(() => this.#decideAndWrite(outcome, isAnswered));
      }
      throw error;
    });
    if (written.kind !== 'unreported') return written;
    throw new GatewayError('DATABASE_UNAVAILABLE', 'PostgreSQL did not report what it wrote');
  }

  /**
   * Decides from the known bet, and again from the present one if it has changed.
   * @param isAnswered the caller has been answered already
   */
  async #decideAndWrite(outcome: Outcome, isAnswered: boolean): Promise<Finished | Unreported> {
    const { transactionId, attemptId } = outcome;
    let bet = outcome.bet ?? (await this.#find(transactionId));
    for (let isLate = isAnswered; ; ) {
      if (bet === undefined) return { kind: 'lost' };
      const decided = decidedOf(outcome, bet, isLate);
      const { kind } = await whenFree(() => this.#finishes.add(decided));
      if (kind === 'written') return { kind: isLate ? 'late' : 'committed' };
      if (kind === 'late') {
        isLate = true;
        continue;
      }
      bet = await this.#find(transactionId);
      if (bet?.busy?.attemptId !== attemptId) return await this.#lost(decided);
    }
  }

  async #write(decided: readonly DecidedOutcome[]): Promise<readonly (Written | Locked)[]> {
    try {
      const rows = await this.#database.run(FINISH, decided);
      const outcomes = decided.map(({ outcome }) => outcome);
      return becameOf(outcomes, rows);
    } catch (error) {
      if (error instanceof GatewayError) {
        for (const { outcome } of decided) this.#sentBefore.add(outcome);
      }
      throw error;
    }
  }

  /** Its attempt no longer owns the bet: its lease has ended, or an earlier statement wrote its outcome. */
  async #lost(decided: DecidedOutcome): Promise<Finished | Unreported> {
    const { outcome } = decided;
    if (!this.#sentBefore.has(outcome)) {
      await this.#database.run(RECORD_LOST, [decided]);
      return { kind: 'lost' };
    }
    // A caller must get the recorded answer, as copies do (I3).
    const looked =
      outcome.caller === undefined ? [] : await this.#database.run(LOOK_UP_OUTCOMES, [outcome]);
    const [before] = looked;
    if (before === undefined) return { kind: 'unreported' };
    return { kind: before.isLate ? 'late' : 'committed' };
  }
}

function decidedOf(outcome: Outcome, bet: Bet, isLate: boolean): DecidedOutcome {
  const { operationId, change, confirmAfterMs, delivery } = outcome;
  const attempted = delivery.kind === 'after' ? delivery : undefined;
  const ended = { operationId, change, delivery: attempted, isLate, confirmAfterMs };
  const promise =
    delivery.kind === 'new' && delivery.delivery.state !== 'live'
      ? promiseAfter(bet, delivery.delivery.state, isLate)
      : undefined;
  return { outcome, version: bet.version, freed: afterOutcome(bet, ended), promise, isLate };
}
