/**
 * A bet `b` that has come to its end: nothing is under way, promised or dead, and its result or its
 * rollback stands. The parts about deliveries are as their partial indexes have them.
 */
export const HAS_OPEN = `EXISTS (SELECT 1 FROM deliveries d WHERE d.transaction_id = b.transaction_id
                                                   AND d.state IN ('live', 'pending'))`;
export const HAS_DEAD = `EXISTS (SELECT 1 FROM deliveries d WHERE d.transaction_id = b.transaction_id
                                                   AND d.state = 'dead')`;
export const HAS_ENDED = `(b.busy_attempt IS NULL
       AND b.place <> 'in_flight' AND NOT (b.place = 'unknown' AND b.rollback = 'none')
       AND (b.place IN ('declined', 'not_sent') OR b.rollback <> 'none'
            OR b.settlement = 'settled')
       AND NOT ${HAS_OPEN} AND NOT ${HAS_DEAD})`;
