import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { BetOwner } from '../../domain/bet.ts';
import type { Database } from '../database.ts';
import type { Statement } from '../statement.ts';

/** Players never change once written, so that a cache of them can never be wrong. */
const CACHED_MAX = 50_000;

/** `(operator, operatorUser)` to one constant aggregator `userId`, and back (I8). */
export class Players {
  readonly #database: Database;
  readonly #byUserId = new LRUCache<string, BetOwner>({ max: CACHED_MAX });

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The player of an operator, made on the first mention.
   * @throws GatewayError `DATABASE_UNAVAILABLE`
   */
  async ensure(operatorId: string, operatorUser: string): Promise<BetOwner> {
    for (;;) {
      const [found] = await this.#database.query<PlayerRow>(FIND_BY_OPERATOR_USER, [
        operatorId,
        operatorUser,
      ]);
      if (found !== undefined) return this.#remember(found);
      const [made] = await this.#database.query<PlayerRow>(INSERT, [
        operatorId,
        operatorUser,
        randomUUID(),
      ]);
      // No row: somebody else was faster; the next look finds theirs.
      if (made !== undefined) return this.#remember(made);
    }
  }

  /** The player that the service calls `userId`. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async findByUserId(userId: string): Promise<BetOwner | undefined> {
    const cached = this.#byUserId.get(userId);
    if (cached !== undefined) return cached;
    const [row] = await this.#database.query<PlayerRow>(FIND_BY_USER_ID, [userId]);
    return row === undefined ? undefined : this.#remember(row);
  }

  #remember(row: PlayerRow): BetOwner {
    const owner: BetOwner = {
      operatorId: row.operator_id,
      playerId: row.id,
      userId: row.user_id,
      operatorUser: row.operator_user,
    };
    this.#byUserId.set(owner.userId, owner);
    return owner;
  }
}

interface PlayerRow {
  readonly id: string;
  readonly operator_id: string;
  readonly operator_user: string;
  readonly user_id: string;
}

const COLUMNS = 'id, operator_id, operator_user, user_id';

const FIND_BY_OPERATOR_USER: Statement = {
  name: 'player-by-operator-user',
  text: `SELECT ${COLUMNS} FROM players WHERE operator_id = $1 AND operator_user = $2`,
};

const FIND_BY_USER_ID: Statement = {
  name: 'player-by-user-id',
  text: `SELECT ${COLUMNS} FROM players WHERE user_id = $1`,
};

const INSERT: Statement = {
  name: 'player-insert',
  text: `INSERT INTO players (operator_id, operator_user, user_id) VALUES ($1, $2, $3)
         ON CONFLICT (operator_id, operator_user) DO NOTHING RETURNING ${COLUMNS}`,
};
