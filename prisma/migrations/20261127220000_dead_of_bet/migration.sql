-- Has this bet a dead letter? Asked for each bet of a player and of a month that is pruned. As with open deliveries
-- (`open_of_bet`), the index by operator has the same condition as the one by bet had: by statistics of before an outage
-- all dead letters were read for each bet. No other index has these words.
-- It holds only what waits for a person. On a large table create it by hand before, CONCURRENTLY; it is then left as it
-- is. `deliveries_dead_of_bet_idx` is for processes of an earlier build.

CREATE INDEX IF NOT EXISTS "deliveries_bet_dead_idx" ON "deliveries"("transaction_id")
    WHERE CASE WHEN "state" = 'dead' THEN true ELSE false END;
