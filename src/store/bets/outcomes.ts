import { DatabaseError } from 'pg';
import { GatewayError } from '../../domain/errors.ts';
import { Batcher } from '../batcher.ts';
import type { Database } from '../database.ts';
import { FINISH } from './finish-statement.ts';
import type { Finished, Outcome } from './outcome.ts';

/** Writes what attempts brought and frees their bets, in batches: a backlog has many at once. */
export class BetOutcomes {
  readonly #finishes: Batcher<Outcome, Finished>;

  constructor(database: Database) {
    this.#finishes = new Batcher({
      concurrency: 2,
      waitingMax: 5_000,
      isRowError: (error: unknown) => error instanceof DatabaseError,
      refused: (why: string) => new GatewayError('DATABASE_UNAVAILABLE', why),
      run: (outcomes) => finish(database, outcomes),
    });
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE`; the outcome may or may not be written */
  finish(outcome: Outcome): Promise<Finished> {
    return this.#finishes.add(outcome);
  }
}

async function finish(
  database: Database,
  outcomes: readonly Outcome[],
): Promise<readonly Finished[]> {
  const rows = await database.run(FINISH, outcomes);
  const isLate = new Map(rows.map((row) => [row.attemptId, row.isLate]));
  return outcomes.map(({ attemptId }) => {
    const late = isLate.get(attemptId);
    if (late === undefined) return { kind: 'lost' };
    return { kind: late ? 'late' : 'stands' };
  });
}
