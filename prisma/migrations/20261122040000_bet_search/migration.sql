-- Search by people, newest first, each by an index. A place enters them when it is no longer in
-- flight, so that it costs one entry each and not two; what is in flight is found by its lease.
-- On a large table create these by hand before, the function first and the indexes CONCURRENTLY; they are then left
-- as they are.

CREATE OR REPLACE FUNCTION bet_state(place TEXT, settlement TEXT, rollback TEXT) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN rollback = 'confirmed' THEN 'rolled_back'
                WHEN rollback = 'promised' THEN 'rolling_back'
                WHEN settlement = 'settled' THEN 'settled'
                WHEN settlement = 'unknown' THEN 'settlement_unknown'
                ELSE place END;

CREATE INDEX IF NOT EXISTS "bets_state_idx"
    ON "bets"(bet_state("place", "settlement", "rollback"), "created_at", "transaction_id")
    WHERE "place" <> 'in_flight';
CREATE INDEX IF NOT EXISTS "bets_operator_state_idx"
    ON "bets"("operator_id", bet_state("place", "settlement", "rollback"), "created_at", "transaction_id")
    WHERE "place" <> 'in_flight';
CREATE INDEX IF NOT EXISTS "bets_player_idx"
    ON "bets"("player_id", "created_at", "transaction_id")
    WHERE "place" <> 'in_flight';
