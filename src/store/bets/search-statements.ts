import { BET_STATES, type BetState } from '../../domain/bet-state.ts';
import { type Columns, type Parameters, statement } from '../sql/statement.ts';

/** Filters, and where to continue: older than `before`, or equally old with a smaller id. */
export interface SearchRange {
  readonly states: readonly BetState[];
  readonly from: Date | undefined;
  readonly before: Date | undefined;
  readonly beforeId: string;
  readonly limit: number;
}

export interface FoundBet {
  readonly transactionId: string;
  readonly operator: string | null;
  readonly operatorUser: string | null;
  readonly userId: string | null;
  readonly state: BetState;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly settlement: { readonly amount: string | null; readonly resultType: string | null };
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

export const RANGE: Parameters<SearchRange> = {
  states: ['text[]', ({ states }) => states],
  from: ['timestamptz', ({ from }) => from ?? '-infinity'],
  before: ['timestamptz', ({ before }) => before ?? 'infinity'],
  before_id: ['text', ({ beforeId }) => beforeId],
  limit: ['int', ({ limit }) => limit],
};

export const STATE = 'bet_state(b.place, b.settlement, b.rollback)';
export const IN_RANGE = `b.created_at >= :from
         AND (b.created_at, b.transaction_id) < (:before, :before_id)`;
export const SHOWN = `b.transaction_id, b.operator_id, p.operator_user, p.user_id, ${STATE} AS state,
         b.amount, b.currency, b.settlement_amount, b.settlement_type, b.created_at`;
export const NEWEST = 'ORDER BY b.created_at DESC, b.transaction_id DESC LIMIT :limit';
export const KEY = 'b.transaction_id, b.created_at';

/** Bets in flight are not in the search indexes, but in that of leases, which has few rows. */
const inFlight = (which: string) => `
      SELECT ${KEY} FROM bets b
       WHERE b.busy_until IS NOT NULL AND b.place = 'in_flight' AND ${STATE} = ANY (:states)
         AND ${IN_RANGE} ${which}`;

/** The bets of `found` with their players; `found` exceeds a page where states are merged. */
const shown = (found: string) => `
  WITH found AS MATERIALIZED (${found}
  ), page AS (
    SELECT b.* FROM found b ${NEWEST}
  )
  SELECT ${SHOWN}
    FROM page JOIN bets b USING (transaction_id) LEFT JOIN players p ON p.id = b.player_id
   ORDER BY b.created_at DESC, b.transaction_id DESC`;

/** The index is sorted within each state: reads a page of each and keeps the newest. */
const byState = (which: string) =>
  shown(`
      SELECT newest.* FROM unnest(:states) AS s(state) CROSS JOIN LATERAL (
        SELECT ${KEY} FROM bets b
         WHERE b.place <> 'in_flight' AND ${STATE} = s.state ${which} AND ${IN_RANGE}
         ${NEWEST}) newest
      UNION ALL ${inFlight(which)}`);

export function foundBet(row: Columns): FoundBet {
  return {
    transactionId: row.text('transaction_id'),
    operator: row.textOrNull('operator_id') ?? null,
    operatorUser: row.textOrNull('operator_user') ?? null,
    userId: row.textOrNull('user_id') ?? null,
    state: row.oneOf('state', BET_STATES),
    amount: row.textOrNull('amount') ?? null,
    currency: row.textOrNull('currency') ?? null,
    settlement: {
      amount: row.textOrNull('settlement_amount') ?? null,
      resultType: row.textOrNull('settlement_type') ?? null,
    },
    createdAt: row.date('created_at').toISOString(),
  };
}

export const SEARCH_ALL = statement('bet-search', RANGE, byState(''), foundBet);

type OfOperator = SearchRange & { readonly operatorId: string };

export const SEARCH_OPERATOR = statement(
  'bet-search-operator',
  {
    ...(RANGE satisfies Parameters<OfOperator>),
    operator_id: ['text', ({ operatorId }: OfOperator) => operatorId],
  },
  byState('AND b.operator_id = :operator_id'),
  foundBet,
);

type OfPlayers = SearchRange & {
  readonly playerIds: readonly string[];
  /** Every spelling; undefined: any stake. */
  readonly amounts: readonly string[] | undefined;
};

const OF_AMOUNT = 'AND (:amounts IS NULL OR b.amount = ANY (:amounts))';

export const SEARCH_PLAYERS = statement(
  'bet-search-players',
  {
    ...(RANGE satisfies Parameters<OfPlayers>),
    player_ids: ['bigint[]', ({ playerIds }: OfPlayers) => playerIds],
    amounts: ['text[]', ({ amounts }: OfPlayers) => amounts ?? null],
  },
  shown(`
      SELECT newest.* FROM unnest(:player_ids) AS p(id) CROSS JOIN LATERAL (
        SELECT ${KEY} FROM bets b
         WHERE b.place <> 'in_flight' AND b.player_id = p.id AND ${STATE} = ANY (:states)
           AND ${IN_RANGE} ${OF_AMOUNT}
         ${NEWEST}) newest
      UNION ALL ${inFlight(`AND b.player_id = ANY (:player_ids) ${OF_AMOUNT}`)}`),
  foundBet,
);

type OneBet = SearchRange & {
  readonly transactionId: string;
  readonly operatorId: string | undefined;
  readonly playerIds: readonly string[] | undefined;
  readonly amounts: readonly string[] | undefined;
};

export const SEARCH_ONE = statement(
  'bet-search-one',
  {
    ...(RANGE satisfies Parameters<OneBet>),
    transaction_id: ['text', ({ transactionId }: OneBet) => transactionId],
    operator_id: ['text', ({ operatorId }: OneBet) => operatorId ?? null],
    player_ids: ['bigint[]', ({ playerIds }: OneBet) => playerIds ?? null],
    amounts: ['text[]', ({ amounts }: OneBet) => amounts ?? null],
  },
  shown(`
      SELECT ${KEY} FROM bets b
       WHERE b.transaction_id = :transaction_id AND ${STATE} = ANY (:states) AND ${IN_RANGE}
         AND (:operator_id IS NULL OR b.operator_id = :operator_id)
         AND (:player_ids IS NULL OR b.player_id = ANY (:player_ids)) ${OF_AMOUNT}`),
  foundBet,
);

interface PlayerKeys {
  /** Undefined: any operator. */
  readonly operatorId: string | undefined;
  readonly operatorUser: string | undefined;
  readonly userId: string | undefined;
}

/**
 * Finds players by either id, or both. An `operatorUser` alone costs one index probe per operator with players: an
 * operator with bets may have no file any more.
 */
export const FIND_PLAYER_IDS = statement(
  'bet-search-player-ids',
  {
    operator_id: ['text', ({ operatorId }: PlayerKeys) => operatorId ?? null],
    operator_user: ['text', ({ operatorUser }: PlayerKeys) => operatorUser ?? null],
    user_id: ['text', ({ userId }: PlayerKeys) => userId ?? null],
  },
  `
  WITH RECURSIVE owner AS (
    SELECT min(operator_id) AS id FROM players WHERE :operator_id IS NULL AND :user_id IS NULL
     UNION ALL
    SELECT (SELECT min(p.operator_id) FROM players p WHERE p.operator_id > w.id)
      FROM owner w WHERE w.id IS NOT NULL
  )
  -- One at most; the limit keeps PostgreSQL, in every release, from reading all players instead.
  SELECT p.id FROM owner w CROSS JOIN LATERAL (
    SELECT id FROM players WHERE operator_id = w.id AND operator_user = :operator_user LIMIT 1) p
   UNION ALL
  SELECT id FROM players
   WHERE operator_id = :operator_id AND operator_user = :operator_user AND :user_id IS NULL
   UNION ALL
  SELECT id FROM players
   WHERE user_id = :user_id AND (:operator_user IS NULL OR operator_user = :operator_user)
     AND (:operator_id IS NULL OR operator_id = :operator_id)`,
  (row) => row.text('id'),
);
