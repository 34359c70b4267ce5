import { randomUUID } from 'node:crypto';
import type { Bet, BetOwner } from '../../domain/bet.ts';
import type { Database } from '../database.ts';
import { named, namedColumns } from '../sql/named.ts';
import { statement } from '../sql/statement.ts';

/** A player, and what people have released of that operator's bets. */
export type BetPlayer = Pick<Bet, 'released' | 'releasedTo'> & { readonly owner: BetOwner };

/**
 * Maps `(operator, operatorUser)` to one constant aggregator `userId`, and back (I8). Never cached: the id of a player
 * that a failover has lost may belong to another player now.
 */
export class Players {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The player of an operator, created when first mentioned. @throws GatewayError */
  async ensure(operatorId: string, operatorUser: string): Promise<BetOwner> {
    for (;;) {
      const [found] = await this.#database.run(FIND_BY_OPERATOR_USER, { operatorId, operatorUser });
      if (found !== undefined) return found;
      const player = { operatorId, operatorUser, userId: randomUUID() };
      const [made] = await this.#database.run(INSERT, player);
      // No row: a concurrent insert was faster; the next round finds its row.
      if (made !== undefined) return made;
    }
  }

  /** The player that the service calls `userId`. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async findByUserId(userId: string): Promise<BetOwner | undefined> {
    const [found] = await this.#database.run(FIND_BY_USER_ID, { userId });
    return found;
  }

  /** The same for a bet that is not in the journal. @throws GatewayError `DATABASE_UNAVAILABLE` */
  async findForBet(userId: string): Promise<BetPlayer | undefined> {
    const [found] = await this.#database.run(FIND_FOR_BET, { userId });
    return found;
  }
}

const ownerOf = namedColumns({
  operator_id: 'text',
  player_id: 'text',
  user_id: 'text',
  operator_user: 'text',
});

const COLUMNS = 'id AS player_id, operator_id, operator_user, user_id';

const NAME = { operator_id: 'text', operator_user: 'text' } as const;

const FIND_BY_OPERATOR_USER = statement(
  'player-by-operator-user',
  named(NAME),
  `SELECT ${COLUMNS} FROM players
    WHERE operator_id = :operator_id AND operator_user = :operator_user`,
  ownerOf,
);

const FIND_BY_USER_ID = statement(
  'player-by-user-id',
  named({ user_id: 'text' }),
  `SELECT ${COLUMNS} FROM players WHERE user_id = :user_id`,
  ownerOf,
);

const FIND_FOR_BET = statement(
  'player-for-bet',
  named({ user_id: 'text' }),
  `SELECT p.id AS player_id, p.operator_id, p.operator_user, p.user_id,
          coalesce(h.released, 0) AS released, coalesce(h.released_to, 0) AS released_to
     FROM players p LEFT JOIN operator_holds h ON h.operator_id = p.operator_id
    WHERE p.user_id = :user_id`,
  (row): BetPlayer => ({
    owner: ownerOf(row),
    released: row.int('released'),
    releasedTo: row.int('released_to'),
  }),
);

const INSERT = statement(
  'player-insert',
  named({ ...NAME, user_id: 'text' }),
  `INSERT INTO players (operator_id, operator_user, user_id)
   VALUES (:operator_id, :operator_user, :user_id)
   ON CONFLICT (operator_id, operator_user) DO NOTHING RETURNING ${COLUMNS}`,
  ownerOf,
);
