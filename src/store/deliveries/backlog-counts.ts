import type { Clock } from '../../domain/clock.ts';
import type { Database } from '../database.ts';
import { Backlog, type OpenCount } from './backlog.ts';
import {
  DEAD_PIECES,
  LIVE,
  UNKNOWN_RESULTS,
  UNRESOLVED_PIECES,
  WAITING_PIECES,
} from './backlog-statements.ts';

export interface OpenCounts {
  /** Being attempted inside their callbacks. */
  readonly live: readonly OpenCount[];
  /** `pending` or `held`. */
  readonly waiting: readonly OpenCount[];
  readonly dead: readonly OpenCount[];
  /** Places of unknown outcome without a rollback. */
  readonly unresolved: readonly OpenCount[];
  /** Results of unknown outcome that nobody has repeated for an hour. */
  readonly unknownResults: readonly { readonly operator: string; readonly count: number }[];
  /** Why counting of large backlogs could not continue; all other counts are current. */
  readonly failures: readonly { readonly error: unknown }[];
}

/** How many deliveries are open. The gauges and the admin API of one process share one count. */
export class BacklogCounts {
  readonly #database: Database;
  readonly #waiting: Backlog;
  readonly #dead: Backlog;
  readonly #unresolved: Backlog;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#waiting = new Backlog({ database, clock, pieces: WAITING_PIECES });
    this.#dead = new Backlog({ database, clock, pieces: DEAD_PIECES });
    this.#unresolved = new Backlog({ database, clock, pieces: UNRESOLVED_PIECES });
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE` */
  async look(): Promise<OpenCounts> {
    const [live, waiting, dead, unresolved, unknownResults] = await Promise.all([
      this.#database.run(LIVE, {}),
      this.#waiting.look(),
      this.#dead.look(),
      this.#unresolved.look(),
      this.#database.run(UNKNOWN_RESULTS, {}),
    ]);
    return {
      live: live.map((row) => ({ ...row, isAtLeast: false })),
      waiting: waiting.counts,
      dead: dead.counts,
      unresolved: unresolved.counts,
      unknownResults,
      failures: [waiting, dead, unresolved].flatMap(({ failure }) => failure ?? []),
    };
  }
}
