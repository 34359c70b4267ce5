import { HAS_ENDED } from '../bets/ended.ts';
import type { Database } from '../database.ts';
import { type Columns, type Parameters, statement } from '../sql/statement.ts';

/** A player as people see one. */
export interface PlayerFacts {
  readonly userId: string;
  readonly operator: string;
  readonly operatorUser: string;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

export interface PlayerSession {
  readonly id: string;
  readonly currency: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly endedAt: string | null;
  readonly endedReason: string | null;
}

/** Freebets are counted like other bets here. */
export interface PlayerTotals {
  readonly currency: string;
  readonly bets: number;
  readonly open: number;
  /** The sum over accepted bets that are not rolled back; decimal text. */
  readonly stakes: string;
  readonly payouts: string;
}

export interface PlayerFile extends PlayerFacts {
  /** At most the latest 100. */
  readonly sessions: readonly PlayerSession[];
  readonly totals: readonly PlayerTotals[];
}

const SESSIONS_MAX = 100;

const byUserId: Parameters<string> = { user_id: ['text', (userId) => userId] };

const playerFacts = (row: Columns): PlayerFacts => ({
  userId: row.text('user_id'),
  operator: row.text('operator_id'),
  operatorUser: row.text('operator_user'),
  createdAt: row.date('created_at').toISOString(),
});

const FIND = statement(
  'player-find',
  byUserId,
  'SELECT user_id, operator_id, operator_user, created_at FROM players WHERE user_id = :user_id',
  playerFacts,
);

const FIND_OF_OPERATOR = statement(
  'player-find-of-operator',
  {
    operator_id: ['text', ({ operator }) => operator],
    operator_user: ['text', ({ operatorUser }) => operatorUser],
  } satisfies Parameters<{ readonly operator: string; readonly operatorUser: string }>,
  `
  SELECT user_id, operator_id, operator_user, created_at FROM players
   WHERE operator_id = :operator_id AND operator_user = :operator_user`,
  playerFacts,
);

const SESSIONS = statement(
  'player-sessions',
  byUserId,
  `
  SELECT s.id, s.currency, s.created_at, s.expires_at, s.ended_at, s.ended_reason
    FROM players p JOIN sessions s ON s.player_id = p.id
   WHERE p.user_id = :user_id ORDER BY s.id DESC LIMIT ${SESSIONS_MAX}`,
  (row): PlayerSession => ({
    id: row.text('id'),
    currency: row.text('currency'),
    createdAt: row.date('created_at').toISOString(),
    expiresAt: row.date('expires_at').toISOString(),
    endedAt: row.isNull('ended_at') ? null : row.date('ended_at').toISOString(),
    endedReason: row.textOrNull('ended_reason') ?? null,
  }),
);

/** Null for an amount such as `0e99999999999`, which PostgreSQL cannot read as a number. */
const counted = (column: string) => `
         CASE WHEN length(${column}) <= 1000 AND ${column} ~ '^[0-9.]+([eE][-+]?[0-9]{1,3})?$'
              THEN ${column}::numeric END`;

const TOTALS = statement(
  'player-totals',
  byUserId,
  `
  SELECT b.currency, count(*)::int AS bets, count(*) FILTER (WHERE NOT ${HAS_ENDED})::int AS open,
         coalesce(sum(${counted('b.amount')})
                  FILTER (WHERE b.place = 'accepted' AND b.rollback = 'none'), 0)::text AS stakes,
         coalesce(sum(${counted('b.settlement_amount')})
                  FILTER (WHERE b.settlement = 'settled' AND b.rollback = 'none'), 0)::text AS payouts
    FROM players p JOIN bets b ON b.player_id = p.id AND b.place <> 'in_flight'
   WHERE p.user_id = :user_id AND b.currency IS NOT NULL
   GROUP BY b.currency ORDER BY b.currency`,
  (row): PlayerTotals => ({
    currency: row.text('currency'),
    bets: row.int('bets'),
    open: row.int('open'),
    stakes: row.text('stakes'),
    payouts: row.text('payouts'),
  }),
);

/** What is known about a player. Every method throws GatewayError `DATABASE_UNAVAILABLE`. */
export class PlayerRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(
    which:
      | { readonly userId: string }
      | { readonly operator: string; readonly operatorUser: string },
  ): Promise<PlayerFacts | undefined> {
    const found =
      'userId' in which
        ? await this.#database.run(FIND, which.userId)
        : await this.#database.run(FIND_OF_OPERATOR, which);
    return found[0];
  }

  async file(userId: string): Promise<PlayerFile | undefined> {
    const [player] = await this.#database.run(FIND, userId);
    if (player === undefined) return undefined;
    const [sessions, totals] = await Promise.all([
      this.#database.run(SESSIONS, userId),
      this.#database.run(TOTALS, userId),
    ]);
    return { ...player, sessions, totals };
  }
}
