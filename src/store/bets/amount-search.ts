import { canonicalAmount } from '../../domain/amount.ts';
import { type Parameters, statement } from '../sql/statement.ts';
import {
  type FoundBet,
  foundBet,
  IN_RANGE,
  KEY,
  NEWEST,
  RANGE,
  type SearchRange,
  SHOWN,
  STATE,
} from './search-statements.ts';

/** Stakes are stored as written; no currency has more decimals. */
const DECIMALS_MAX = 8;

/**
 * Spellings of a stake in the journal: `12.5`, `12.50` and so on; no known sender uses an exponent.
 * @param amount decimal text
 */
export function spellingsOf(amount: string): readonly string[] {
  const [whole = '', decimals = ''] = canonicalAmount(amount).split('.');
  const shortest = decimals === '' ? [whole] : [];
  const padded = Array.from({ length: DECIMALS_MAX }, (_, at) => at + 1)
    .filter((places) => places >= decimals.length)
    .map((places) => `${whole}.${decimals.padEnd(places, '0')}`);
  return [...new Set([amount, ...shortest, ...padded])];
}

/** The most bets of an amount that one statement reads, before other filters. */
const SCANNED_MAX = 2_000;

type OfAmount = SearchRange & {
  readonly amounts: readonly string[];
  readonly operatorId: string | undefined;
};

/** One search step: a matching bet, and how far the step has read. */
interface Scanned {
  readonly bet: FoundBet | undefined;
  /** The oldest bet read; undefined if there was none. */
  readonly end: { readonly createdAt: Date; readonly transactionId: string } | undefined;
  /** Whether there may be older ones. */
  readonly isMore: boolean;
}

/**
 * Newest first, by an index of amount and time only: a wider one would slow down places, so operator and state are
 * filtered per bet, within `SCANNED_MAX`. Does not find bets in flight. Always returns a row.
 */
export const SEARCH_AMOUNT = statement(
  'bet-search-amount',
  {
    ...(RANGE satisfies Parameters<OfAmount>),
    amounts: ['text[]', ({ amounts }: OfAmount) => amounts],
    operator_id: ['text', ({ operatorId }: OfAmount) => operatorId ?? null],
  },
  `
  WITH scanned AS MATERIALIZED (
    SELECT b.* FROM unnest(:amounts) AS a(amount) CROSS JOIN LATERAL (
        SELECT ${KEY}, b.operator_id, ${STATE} AS state FROM bets b
         WHERE b.place <> 'in_flight' AND b.amount = a.amount AND ${IN_RANGE}
         ORDER BY b.created_at DESC, b.transaction_id DESC LIMIT ${SCANNED_MAX}) b
     ORDER BY b.created_at DESC, b.transaction_id DESC LIMIT ${SCANNED_MAX}
  ), page AS (
    SELECT ${KEY} FROM scanned b
     WHERE b.state = ANY (:states) AND (:operator_id IS NULL OR b.operator_id = :operator_id)
     ${NEWEST}
  ), shown AS (
    SELECT ${SHOWN}
      FROM page JOIN bets b USING (transaction_id) LEFT JOIN players p ON p.id = b.player_id
  )
  SELECT shown.*, e.created_at AS end_at, e.transaction_id AS end_id,
         (SELECT count(*) FROM scanned) = ${SCANNED_MAX} AS is_more
    FROM (SELECT) AS always
         LEFT JOIN (SELECT * FROM scanned ORDER BY created_at, transaction_id LIMIT 1) e ON true
         LEFT JOIN shown ON true
   ORDER BY shown.created_at DESC, shown.transaction_id DESC`,
  (row): Scanned => {
    const isNone = row.textOrNull('end_id') === undefined;
    return {
      bet: row.textOrNull('transaction_id') === undefined ? undefined : foundBet(row),
      end: isNone
        ? undefined
        : { createdAt: row.date('end_at'), transactionId: row.text('end_id') },
      isMore: row.bool('is_more'),
    };
  },
);
