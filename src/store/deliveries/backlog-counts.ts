import type { Database } from '../database.ts';
import {
  DEAD,
  LIVE,
  type OpenCount,
  UNKNOWN_RESULTS,
  UNRESOLVED,
  WAITING,
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
}

/** How many deliveries are open. The gauges and the admin API of one process share one count. */
export class BacklogCounts {
  readonly #database: Database;
  #looking: Promise<OpenCounts> | undefined;

  /** @param database with `ordered` plans: only the intended indexes have the order of these statements */
  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws GatewayError `DATABASE_UNAVAILABLE` */
  look(): Promise<OpenCounts> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  async #look(): Promise<OpenCounts> {
    const [live, waiting, dead, unresolved, unknownResults] = await Promise.all([
      this.#database.run(LIVE, {}),
      this.#database.run(WAITING, {}),
      this.#database.run(DEAD, {}),
      this.#database.run(UNRESOLVED, {}),
      this.#database.run(UNKNOWN_RESULTS, {}),
    ]);
    return { live, waiting, dead, unresolved, unknownResults };
  }
}
