import type { Database } from '../database.ts';
import { type Claim, claimOf, planClaim } from './claim.ts';
import { CLAIM, LOOK } from './claim-statements.ts';
import { COUNT_HELD, HELD_BY_PEOPLE } from './held-time.ts';
import {
  COUNT_ENDED,
  COUNTABLE_UNTIL,
  DUE_OPERATORS,
  END_OF_STRETCH,
  NUDGE,
  OVERDUE_UNKNOWN,
  WAKE,
} from './statements.ts';

/** How much of an operator's queue to claim. */
export interface Take {
  /** The configured `wallet.generation`: deliveries of bets of any other generation become held. */
  readonly generation: number;
  readonly limit: number;
  /** `money`: no data updates. Default `all`. */
  readonly which?: 'money' | 'all' | undefined;
  /** The wallet gets no data updates: those that wait end. Default: it does. */
  readonly skipsUpdates?: boolean | undefined;
}

/** Rows to read beyond those that have all changed or that other sessions have locked. */
const FURTHER = 1_000;

/** An operator with open deliveries. */
export interface OpenOperator {
  readonly operatorId: string;
  /** When the next one is due, by PostgreSQL's clock, epoch milliseconds. */
  readonly nextAtMs: number;
  /** Not positive if one is due now. */
  readonly nextInMs: number;
}

/** A place of unknown outcome that the service did not roll back in time. */
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
 * The authoritative delivery queue. Rows become due by PostgreSQL's clock, claimed ones again when their lease ends.
 * Every method throws GatewayError `DATABASE_UNAVAILABLE`.
 */
export class DeliveryStore {
  readonly #database: Database;
  readonly #taking: Database;

  /** @param taking has kept plans, because a slow wallet's deliveries are claimed often, a few at a time */
  constructor(database: Database, taking: Database = database) {
    this.#database = database;
    this.#taking = taking;
  }

  /**
   * Claims due deliveries of an operator: at most one per bet, money operations in the order of their promises, none of
   * a busy bet (I6). Those of another wallet's bets become held, and obsolete ones end (`decideClaim`).
   */
  async take(
    operatorId: string,
    { which = 'all', skipsUpdates = false, ...take }: Take,
  ): Promise<Claim> {
    const { generation, limit } = take;
    const withUpdates = which === 'all';
    for (let reach = limit; ; reach = FURTHER) {
      const rows = await this.#taking.run(LOOK, { operatorId, limit: reach, withUpdates });
      const planned = planClaim(rows, { generation, skipsUpdates });
      const [read] = rows;
      const claiming = read && { operatorId, generation, read, limit, decided: planned };
      const written = claiming === undefined ? [] : await this.#taking.run(CLAIM, claiming);
      const isLast = rows.length < reach || reach >= FURTHER;
      if (written.length > 0 || isLast) return claimOf(planned, written, generation);
    }
  }

  /** Operators with open deliveries: one index probe each. */
  async openOperators(): Promise<readonly OpenOperator[]> {
    return await this.#database.run(DUE_OPERATORS, {});
  }

  /** Makes up to `limit` of an operator's deliveries in back-off due. @returns how many */
  async wake(operatorId: string, limit: number): Promise<number> {
    return (await this.#database.run(WAKE, { operatorId, limit })).length;
  }

  /** Makes the operator's next delivery due, so that a half-open breaker has a call to test. */
  async nudge(operatorId: string): Promise<void> {
    await this.#database.run(NUDGE, { operatorId });
  }

  async heldByPeople(): Promise<readonly string[]> {
    return await this.#database.run(HELD_BY_PEOPLE, {});
  }

  /** Counts held time, so that these operators' horizons stop. Every replica may call it. */
  async countHeld(operatorIds: readonly string[]): Promise<void> {
    if (operatorIds.length > 0) await this.#database.run(COUNT_HELD, operatorIds);
  }

  /** Places of unknown outcome without a rollback. @param ages per operator, milliseconds until a place is overdue */
  async overdueUnknown(
    ages: ReadonlyMap<string, number>,
    limit: number,
  ): Promise<readonly OverduePlace[]> {
    return await this.#database.run(OVERDUE_UNKNOWN, { ages, limit });
  }

  /**
   * Counts deliveries that ended from `from` to the returned `until`, perhaps before `to`: one statement cannot count
   * years.
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

  /** Ended deliveries may be counted until 2 s ago by PostgreSQL's clock, so that no commit in flight is missed. */
  async countableUntil(): Promise<Date> {
    const [until] = await this.#database.run(COUNTABLE_UNTIL, {});
    if (until === undefined) throw new Error('PostgreSQL has no clock');
    return until;
  }
}
