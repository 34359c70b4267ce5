import type { Database } from '../database.ts';
import { COUNT_ENDED, COUNTABLE_UNTIL, END_OF_STRETCH } from './count-statements.ts';
import {
  COUNT_HELD,
  DUE_OPERATORS,
  HELD_BY_PEOPLE,
  NUDGE,
  OVERDUE_UNKNOWN,
  TAKE,
  WAKE,
} from './statements.ts';
import type { TakenDelivery, UnreadableDelivery } from './taken.ts';

export interface Claim {
  readonly taken: readonly TakenDelivery[];
  /** Default: none. */
  readonly unreadable?: readonly UnreadableDelivery[];
  /** Nothing was due. Where something was and could not be taken, another look may bring more. */
  readonly isDry: boolean;
}

/** How much of an operator's queue is claimed. */
export interface Take {
  /** The configured `wallet.generation`: deliveries of bets of another one are held from now on. */
  readonly generation: number;
  /** How many are looked at. */
  readonly limit: number;
  /** `money`: no data updates. Default `all`. */
  readonly which?: 'money' | 'all' | undefined;
}

/** An operator with open deliveries. */
export interface OpenOperator {
  readonly operatorId: string;
  /** When the next of them is due, PostgreSQL's clock, epoch milliseconds. */
  readonly nextAtMs: number;
  /** Milliseconds until then; not positive when something may be tried now. */
  readonly nextInMs: number;
}

/** A place that was answered 100 and that nobody has rolled back in time. */
export interface OverduePlace {
  readonly transactionId: string;
  /** The place, as the service sent it. */
  readonly body: Buffer;
}

export interface DeliveryCount {
  readonly operator: string;
  readonly operation: string;
  readonly state: string;
  readonly count: number;
}

/**
 * The queue of record. Rows become due by PostgreSQL's clock; a taken row is due again when its
 * lease ends. Every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class DeliveryStore {
  readonly #database: Database;
  readonly #taking: Database;

  /** @param taking keeps its plans: a slow wallet's deliveries are taken a few at a time */
  constructor(database: Database, taking: Database = database) {
    this.#database = database;
    this.#taking = taking;
  }

  /**
   * Claims due deliveries of an operator: at most one operation of a bet, money operations in the
   * order of their promises, nothing of a bet that is busy (I6).
   */
  async take(operatorId: string, { generation, limit, which = 'all' }: Take): Promise<Claim> {
    const withUpdates = which === 'all';
    const rows = await this.#taking.run(TAKE, { operatorId, generation, limit, withUpdates });
    const taken = rows.flatMap((row) => row.taken ?? []);
    const unreadable = rows.flatMap((row) => row.unreadable ?? []);
    return { taken, unreadable, isDry: rows[0]?.lookedAt === 0 };
  }

  /** Operators with open deliveries, cheaply: one index probe each. */
  async openOperators(): Promise<readonly OpenOperator[]> {
    return await this.#database.run(DUE_OPERATORS, {});
  }

  /** Makes everything of an operator due that waits for the end of a back-off, at most `limit`. */
  async wake(operatorId: string, limit: number): Promise<number> {
    return (await this.#database.run(WAKE, { operatorId, limit })).length;
  }

  /** Makes one delivery due, the next in turn, so that a half-open breaker has something to try. */
  async nudge(operatorId: string, generation: number): Promise<void> {
    await this.#database.run(NUDGE, { operatorId, generation });
  }

  /** Operators whose deliveries a person holds. */
  async heldByPeople(): Promise<readonly string[]> {
    return await this.#database.run(HELD_BY_PEOPLE, {});
  }

  /** Counts held time, so that these operators' horizons stand still. Any replica may repeat it. */
  async countHeld(operatorIds: readonly string[]): Promise<void> {
    if (operatorIds.length > 0) await this.#database.run(COUNT_HELD, operatorIds);
  }

  /**
   * Places of unknown outcome that were never rolled back.
   * @param ages per operator, after how many milliseconds
   */
  async overdueUnknown(
    ages: ReadonlyMap<string, number>,
    limit: number,
  ): Promise<readonly OverduePlace[]> {
    return await this.#database.run(OVERDUE_UNKNOWN, { ages, limit });
  }

  /**
   * Deliveries that ended after `from` and until `to`, or until a time before that which is returned too:
   * in years more end than one statement can count.
   * @param rows about how many to count at most
   */
  async countEnded(
    from: Date,
    to: Date,
    rows: number,
  ): Promise<{ readonly counts: readonly DeliveryCount[]; readonly until: Date }> {
    const [until = to] = await this.#database.run(END_OF_STRETCH, { from, until: to, rows });
    return { counts: await this.#database.run(COUNT_ENDED, { from, until }), until };
  }

  /** Up to when ended deliveries may be counted: PostgreSQL's clock less 2 s, so that no commit under way is missed. */
  async countableUntil(): Promise<Date> {
    const [until] = await this.#database.run(COUNTABLE_UNTIL, {});
    if (until === undefined) throw new Error('PostgreSQL has no clock');
    return until;
  }
}
