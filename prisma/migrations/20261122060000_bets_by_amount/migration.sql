-- Search of bets by their stake, newest first. Short, and entered when a place is no longer in flight:
-- every place and every result pays for it. The text as it was written, because a cast to a number could
-- refuse what a service may send, and with it the bet.
-- On a large table create it by hand before, CONCURRENTLY; it is then left as it is.

CREATE INDEX IF NOT EXISTS "bets_amount_idx" ON "bets"("amount", "created_at")
    WHERE "place" <> 'in_flight' AND "amount" IS NOT NULL;
