-- What is promised for this bet? Asked with each result, rollback and delivery. Each other index of open deliveries has
-- the same condition as the one by bet had. While next to none is open, by the statistics, PostgreSQL takes reading all
-- of such an index for as cheap as looking one bet up, and goes on so with every bet once a wallet is away: with all that
-- wait, until its next ANALYZE. No other index has these words, so that none but this one can answer.
-- It holds next to nothing in quiet times. On a large table create it by hand before, CONCURRENTLY; it is then left as
-- it is. `deliveries_open_of_bet_idx` is for processes of an earlier build.

CREATE INDEX IF NOT EXISTS "deliveries_bet_open_idx" ON "deliveries"("transaction_id")
    WHERE CASE WHEN "state" IN ('live', 'pending') THEN true ELSE false END;
