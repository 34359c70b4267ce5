/**
 * A bet `b` whose place was answered 100 although its wallet may hold it, and which nobody has rolled back yet
 * (`isPlaceUnknown`). As its partial indexes have it, word for word: written otherwise, it would not lead into them.
 */
export const IS_PLACE_UNRESOLVED = `(b.place = 'unknown' OR b.place = 'accepted' AND b.place_answered_unknown)
     AND b.rollback = 'none'`;

/** A bet `b` with deliveries that are still to be made. */
export const HAS_OPEN = `EXISTS (SELECT 1 FROM deliveries d WHERE d.transaction_id = b.transaction_id
                                                   AND d.state IN ('live', 'pending'))`;
/** A bet `b` with dead letters. */
export const HAS_DEAD = `EXISTS (SELECT 1 FROM deliveries d WHERE d.transaction_id = b.transaction_id
                                                   AND d.state = 'dead')`;
/** What the service was told of an operation `p`, with its row or because of an attempt; null while nobody knows. */
const ANSWERED = `coalesce(p.answer_status, (
         SELECT a.answer_status FROM attempts a WHERE a.operation_id = p.id AND a.answer_status IS NOT NULL
          ORDER BY a.number LIMIT 1))`;
/**
 * A bet `b` of which nothing came but what was refused: places and cashouts without asking a wallet, or results of a bet
 * that the wallet does not know either. They are on record so that the same bytes take no effect later
 * (docs/money-safety.md), and no result is ever waited for.
 */
export const IS_ONLY_REFUSED = `(b.place = 'unseen' AND b.settlement = 'none' AND b.rollback = 'none'
       AND NOT EXISTS (SELECT 1 FROM operations p
                        WHERE p.transaction_id = b.transaction_id AND ${ANSWERED} IS DISTINCT FROM 400))`;
/**
 * A bet `b` that has come to its end: nothing is under way, promised or dead, or has still to be confirmed, and its result
 * or its rollback stands, or there was nothing to begin with. The parts about deliveries are as their partial indexes have
 * them.
 */
export const HAS_ENDED = `(b.busy_attempt IS NULL AND b.confirm_at IS NULL
       AND b.place <> 'in_flight' AND NOT (b.place = 'unknown' AND b.rollback = 'none')
       AND (b.place IN ('declined', 'not_sent') OR b.rollback <> 'none'
            OR b.settlement = 'settled' OR ${IS_ONLY_REFUSED})
       AND NOT ${HAS_OPEN} AND NOT ${HAS_DEAD})`;
