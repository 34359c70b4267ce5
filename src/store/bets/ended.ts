import { isDead, isOpen } from '../deliveries/open-of-bet.ts';
import { ANSWERED_STATUS } from './recorded.ts';

/**
 * A bet `b` whose place was answered 100 although its wallet may hold it, and that is not rolled back
 * (`isPlaceUnknown`). Worded exactly as in its partial indexes, or PostgreSQL would not use them.
 */
export const IS_PLACE_UNRESOLVED = `(b.place = 'unknown' OR b.place = 'accepted' AND b.place_answered_unknown)
     AND b.rollback = 'none'`;

/** A bet `b` with open deliveries. */
export const HAS_OPEN = `EXISTS (SELECT 1 FROM deliveries d WHERE d.transaction_id = b.transaction_id
                                                   AND ${isOpen('d')})`;
/** A bet `b` with dead letters. */
export const HAS_DEAD = `EXISTS (SELECT 1 FROM deliveries d WHERE d.transaction_id = b.transaction_id
                                                   AND ${isDead('d')})`;

/**
 * An operation `p` that was answered 503, and that the wallet refused when the service repeated it. The refusal needs
 * an attempt: a cashout refused for its token says nothing about an earlier result.
 */
const IS_REFUSED_SINCE = `coalesce(${ANSWERED_STATUS} >= 500, false)
                          AND EXISTS (SELECT 1 FROM operations q JOIN attempts a ON a.operation_id = q.id
                                       WHERE q.transaction_id = p.transaction_id AND q.id > p.id
                                         AND q.operation = p.operation AND a.answer_status = 400)`;

/**
 * A bet `b` known only from what moves no money: places and cashouts refused without a wallet call, results that the
 * wallet does not know, or updates of a bet of another gateway or before a loss. They are recorded against the same
 * bytes (docs/money-safety.md); no result is awaited.
 */
export const MOVES_NOTHING = `(b.place = 'unseen' AND b.settlement = 'none' AND b.rollback = 'none'
       AND NOT EXISTS (SELECT 1 FROM operations p
                        WHERE p.transaction_id = b.transaction_id AND p.operation <> 'update'
                          AND ${ANSWERED_STATUS} IS DISTINCT FROM 400 AND NOT (${IS_REFUSED_SINCE})))`;

/**
 * A bet `b` that has ended: nothing is in flight, promised, dead or to be confirmed, and it has a result or rollback,
 * or was never accepted. Deliveries are worded as in their partial indexes.
 */
export const HAS_ENDED = `(b.busy_attempt IS NULL AND b.confirm_at IS NULL
       AND b.place <> 'in_flight' AND NOT (b.place = 'unknown' AND b.rollback = 'none')
       AND (b.place IN ('declined', 'not_sent') OR b.rollback <> 'none'
            OR b.settlement = 'settled' OR ${MOVES_NOTHING})
       AND NOT ${HAS_OPEN} AND NOT ${HAS_DEAD})`;
