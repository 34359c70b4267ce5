-- Is anything of this bet dead? Asked of each bet that is pruned, forgotten or added up for its player: with
-- the index by operator alone, each of them would look through all dead letters.
-- The person's question: what waits, where, oldest first? By the drain's index all of it would be sorted for
-- each page, by the key every delivery there ever was would be read.
-- Both hold next to nothing in quiet times. On a large table create them by hand before, CONCURRENTLY; they are
-- then left as they are.

CREATE INDEX IF NOT EXISTS "deliveries_dead_of_bet_idx" ON "deliveries"("transaction_id")
    WHERE "state" = 'dead';
CREATE INDEX IF NOT EXISTS "deliveries_pending_idx" ON "deliveries"("operator_id", "id")
    WHERE "state" = 'pending';
