import { randomUUID } from 'node:crypto';
import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';

/** One player as the bonus API needs it. */
export interface BonusPlayer {
  readonly operatorUser: string;
  readonly userId: string;
}

/**
 * Players of one operator, many at once. Every method throws GatewayError `DATABASE_UNAVAILABLE`;
 * none of them ever sees another operator's player (I8).
 */
export class BonusPlayers {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The aggregator's ids of these players, made where there are none: a bonus may be issued before
   * the player's first visit.
   * @returns by the operator's id
   */
  async ensureAll(
    operatorId: string,
    operatorUsers: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const known = new Map<string, string>();
    for (;;) {
      const missing = operatorUsers.filter((user) => !known.has(user));
      if (missing.length === 0) return known;
      for (const row of await this.#rows(FIND_BY_OPERATOR_USERS, [operatorId, missing])) {
        known.set(row.operatorUser, row.userId);
      }
      const lacking = missing.filter((user) => !known.has(user));
      if (lacking.length === 0) return known;
      const userIds = lacking.map(() => randomUUID());
      // Who is not returned was made by somebody faster: the next look finds that row.
      for (const row of await this.#rows(INSERT_ALL, [operatorId, lacking, userIds])) {
        known.set(row.operatorUser, row.userId);
      }
    }
  }

  /** The aggregator's id of a player, where there is one. */
  async find(operatorId: string, operatorUser: string): Promise<string | undefined> {
    const [row] = await this.#rows(FIND_BY_OPERATOR_USERS, [operatorId, [operatorUser]]);
    return row?.userId;
  }

  /** Which of these ids are this operator's players: the aggregator's id to the operator's. */
  async namesOf(
    operatorId: string,
    userIds: Iterable<string>,
  ): Promise<ReadonlyMap<string, string>> {
    // The service chooses them; PostgreSQL knows no text with a NUL and would fail.
    const possible = [...userIds].filter((userId) => !userId.includes('\0'));
    const rows = await this.#rows(FIND_BY_USER_IDS, [operatorId, possible]);
    return new Map(rows.map(({ userId, operatorUser }) => [userId, operatorUser]));
  }

  async #rows(statement: Statement, values: readonly unknown[]): Promise<readonly BonusPlayer[]> {
    const rows = await this.#database.query<PlayerRow>(statement, values);
    return rows.map((row) => ({ operatorUser: row.operator_user, userId: row.user_id }));
  }
}

interface PlayerRow {
  readonly operator_user: string;
  readonly user_id: string;
}

const FIND_BY_OPERATOR_USERS: Statement = {
  name: 'bonus-players-by-operator-user',
  text: `SELECT operator_user, user_id FROM players
          WHERE operator_id = $1 AND operator_user = ANY ($2::text[])`,
};

const FIND_BY_USER_IDS: Statement = {
  name: 'bonus-players-by-user-id',
  text: `SELECT operator_user, user_id FROM players
          WHERE operator_id = $1 AND user_id = ANY ($2::text[])`,
};

// In order, so that two batches with the same new players do not wait for each other in a ring.
const INSERT_ALL: Statement = {
  name: 'bonus-players-insert',
  text: `INSERT INTO players (operator_id, operator_user, user_id)
         SELECT $1::text, operator_user, user_id
           FROM unnest($2::text[], $3::text[]) AS made(operator_user, user_id)
          ORDER BY operator_user
         ON CONFLICT (operator_id, operator_user) DO NOTHING
         RETURNING operator_user, user_id`,
};
