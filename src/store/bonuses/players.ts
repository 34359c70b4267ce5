import { randomUUID } from 'node:crypto';
import type { Database } from '../database.ts';
import { named, namedColumns } from '../sql/named.ts';
import { statement } from '../sql/statement.ts';

/** Players of one operator, never another's (I8), many at once. Every method throws GatewayError. */
export class BonusPlayers {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The aggregator's ids of these players, by the operator's. Missing players are created: a bonus may come before
   * the first visit.
   */
  async ensureAll(
    operatorId: string,
    operatorUsers: readonly string[],
  ): Promise<ReadonlyMap<string, string>> {
    const known = new Map<string, string>();
    for (;;) {
      const missing = operatorUsers.filter((user) => !known.has(user));
      if (missing.length === 0) return known;
      const sought = { operatorId, operatorUsers: missing };
      for (const player of await this.#database.run(FIND_BY_OPERATOR_USERS, sought)) {
        known.set(player.operatorUser, player.userId);
      }
      const lacking = missing.filter((user) => !known.has(user));
      if (lacking.length === 0) return known;
      const made = { operatorId, operatorUsers: lacking, userIds: lacking.map(() => randomUUID()) };
      // A player that is not returned was created by another request meanwhile: the next look finds that row.
      for (const player of await this.#database.run(INSERT_ALL, made)) {
        known.set(player.operatorUser, player.userId);
      }
    }
  }

  /** The aggregator's id of a player, if there is one. */
  async find(operatorId: string, operatorUser: string): Promise<string | undefined> {
    const sought = { operatorId, operatorUsers: [operatorUser] };
    const [player] = await this.#database.run(FIND_BY_OPERATOR_USERS, sought);
    return player?.userId;
  }

  /** Those of these ids that are this operator's players: from the aggregator's id to the operator's. */
  async namesOf(
    operatorId: string,
    userIds: Iterable<string>,
  ): Promise<ReadonlyMap<string, string>> {
    // The service chooses the ids; PostgreSQL accepts no text with a NUL and would fail.
    const possible = [...userIds].filter((userId) => !userId.includes('\0'));
    const players = await this.#database.run(FIND_BY_USER_IDS, { operatorId, userIds: possible });
    return new Map(players.map(({ userId, operatorUser }) => [userId, operatorUser]));
  }

  /** Those names that are the aggregator's id of one of this operator's players, and no player's own name. */
  async mistakenFor(
    operatorId: string,
    operatorUsers: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const sought = { operatorId, userIds: operatorUsers };
    return new Set(await this.#database.run(FIND_MISTAKEN, sought));
  }
}

const playerOf = namedColumns({ operator_user: 'text', user_id: 'text' });

const FIND_BY_OPERATOR_USERS = statement(
  'bonus-players-by-operator-user',
  named({ operator_id: 'text', operator_users: 'text[]' }),
  `SELECT operator_user, user_id FROM players
    WHERE operator_id = :operator_id AND operator_user = ANY (:operator_users)`,
  playerOf,
);

const FIND_BY_USER_IDS = statement(
  'bonus-players-by-user-id',
  named({ operator_id: 'text', user_ids: 'text[]' }),
  `SELECT operator_user, user_id FROM players
    WHERE operator_id = :operator_id AND user_id = ANY (:user_ids)`,
  playerOf,
);

const FIND_MISTAKEN = statement(
  'bonus-players-mistaken',
  named({ operator_id: 'text', user_ids: 'text[]' }),
  `SELECT p.user_id FROM players p
    WHERE p.operator_id = :operator_id AND p.user_id = ANY (:user_ids)
      AND NOT EXISTS (SELECT FROM players own
                       WHERE own.operator_id = :operator_id AND own.operator_user = p.user_id)`,
  (row) => row.text('user_id'),
);

// In order, so that two batches with the same new players do not deadlock.
const INSERT_ALL = statement(
  'bonus-players-insert',
  named({ operator_id: 'text', operator_users: 'text[]', user_ids: 'text[]' }),
  `INSERT INTO players (operator_id, operator_user, user_id)
   SELECT :operator_id, operator_user, user_id
     FROM unnest(:operator_users, :user_ids) AS made(operator_user, user_id)
    ORDER BY operator_user
   ON CONFLICT (operator_id, operator_user) DO NOTHING
   RETURNING operator_user, user_id`,
  playerOf,
);
