-- The metrics' question: of how many places does nobody know the outcome, operator by operator? In the order
-- of this index they are counted in pieces, so that millions at one operator hide nobody else's.
-- It holds next to nothing in quiet times. On a large table create it by hand before, CONCURRENTLY; it is then
-- left as it is.

CREATE INDEX IF NOT EXISTS "bets_unresolved_idx" ON "bets"("operator_id", "transaction_id")
    WHERE ("place" = 'unknown' OR "place" = 'accepted' AND "place_answered_unknown")
      AND "rollback" = 'none';
