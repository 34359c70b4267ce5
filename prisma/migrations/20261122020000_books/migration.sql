-- The books: each effect that a wallet confirmed as one movement, sums of days, closed statements.
-- They are derived from the journal, so the journal says in which transaction an attempt was written
-- and whether its bet stands by it.

-- In the order of callbacks, which lock their bet before they write an attempt: the other way round each try ended in
-- a deadlock with those that waited for "attempts" meanwhile.
LOCK TABLE "bets" IN SHARE MODE;

-- In which transaction the row was written: the bookkeeper reads only what no transaction in flight
-- can still come before. Rows from before get the id of this migration's own transaction, without a
-- rewrite of the table. NULL in "confirmed": written by a release that did not say.
ALTER TABLE "attempts" ADD COLUMN IF NOT EXISTS "written_in" XID8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE "attempts" ADD COLUMN IF NOT EXISTS "confirmed" BOOLEAN;
-- The bookkeeper's question: what came after the last that was booked?
CREATE INDEX IF NOT EXISTS "attempts_to_book_idx" ON "attempts"("written_in", "operation_id", "number")
    WHERE "confirmed" IS NOT FALSE;
-- Bets whose result is unknown; next to nothing is in it.
CREATE INDEX IF NOT EXISTS "bets_result_unknown_idx" ON "bets"("operator_id")
    WHERE "settlement" = 'unknown' AND "rollback" = 'none';
-- Bets with a promised rollback; next to nothing is in it.
CREATE INDEX IF NOT EXISTS "bets_rolling_back_idx" ON "bets"("operator_id") WHERE "rollback" = 'promised';

-- How far the books have come: one row. Whoever writes to the books raises its version in the same
-- statement, and only from the version that was read before: there is one writer at a time.
CREATE TABLE "books_cursor" (
    "id" SMALLINT NOT NULL DEFAULT 1,
    "version" BIGINT NOT NULL DEFAULT 0,
    "written_in" XID8 NOT NULL DEFAULT '0',
    "operation_id" BIGINT NOT NULL DEFAULT 0,
    "number" INTEGER NOT NULL DEFAULT 0,
    "pruned_in" XID8 NOT NULL DEFAULT '0',
    "time_zone" TEXT,
    "checked_in" XID8 NOT NULL DEFAULT '0',
    "checked_operation_id" BIGINT NOT NULL DEFAULT 0,
    "checked_number" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "books_cursor_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "books_cursor_one_check" CHECK ("id" = 1)
);
INSERT INTO "books_cursor" DEFAULT VALUES;

CREATE TABLE "books_movements" (
    "transaction_id" TEXT NOT NULL,
    "sequence" INTEGER NOT NULL,
    "operator_id" TEXT NOT NULL,
    "player_id" BIGINT NOT NULL,
    "currency" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "amount" NUMERIC NOT NULL,
    "is_freebet" BOOLEAN NOT NULL,
    "opens" SMALLINT NOT NULL,
    "open_stake" NUMERIC NOT NULL,
    "operation" TEXT NOT NULL,
    "operation_id" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "written_in" XID8 NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3) NOT NULL,
    "belongs_to" DATE NOT NULL,
    "day" DATE NOT NULL,

    CONSTRAINT "books_movements_pkey" PRIMARY KEY ("transaction_id", "sequence"),
    CONSTRAINT "books_movements_kind_check"
        CHECK ("kind" IN ('stake', 'payout', 'payout_reversal', 'stake_return')),
    -- From the player's side: what is taken is not positive, what is given not negative.
    CONSTRAINT "books_movements_sign_check"
        CHECK (CASE WHEN "kind" IN ('stake', 'payout_reversal') THEN "amount" <= 0 ELSE "amount" >= 0 END),
    CONSTRAINT "books_movements_day_check" CHECK ("day" >= "belongs_to")
);
-- A statement's question: what was booked into this day, in the order of its confirmation?
CREATE INDEX "books_movements_operator_id_day_confirmed_at_operation_id_s_idx"
    ON "books_movements"("operator_id", "day", "confirmed_at", "operation_id", "sequence");
-- The checker's and the rebuild's question: what was booked since?
CREATE INDEX "books_movements_written_in_operation_id_number_idx"
    ON "books_movements"("written_in", "operation_id", "number");

CREATE TABLE "books_days" (
    "day" DATE NOT NULL,
    "operator_id" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "bets" BIGINT NOT NULL DEFAULT 0,
    "stakes" NUMERIC NOT NULL DEFAULT 0,
    "payouts" NUMERIC NOT NULL DEFAULT 0,
    "payout_reversals" NUMERIC NOT NULL DEFAULT 0,
    "stake_returns" NUMERIC NOT NULL DEFAULT 0,
    "freebet_stakes" NUMERIC NOT NULL DEFAULT 0,
    "open_bets" BIGINT NOT NULL DEFAULT 0,
    "open_stakes" NUMERIC NOT NULL DEFAULT 0,
    "unresolved" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "books_days_pkey" PRIMARY KEY ("day", "operator_id", "currency")
);
-- What is carried over from the day before, and one operator's year.
CREATE INDEX "books_days_operator_id_currency_day_idx" ON "books_days"("operator_id", "currency", "day");

CREATE TABLE "books_statements" (
    "operator_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "time_zone" TEXT NOT NULL,
    "closed_at" TIMESTAMPTZ(3) NOT NULL,
    "written_in" XID8 NOT NULL,
    "operation_id" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "movements" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "totals" JSONB NOT NULL,
    "open" JSONB NOT NULL,
    "open_count" BIGINT NOT NULL,

    CONSTRAINT "books_statements_pkey" PRIMARY KEY ("operator_id", "day")
);

-- Whatever the checker found that must not be; a row per bet and rule, and per day and rule.
CREATE TABLE "books_violations" (
    "id" BIGSERIAL NOT NULL,
    "rule" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "operator_id" TEXT,
    "found" TEXT NOT NULL,
    "expected" TEXT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "books_violations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "books_violations_rule_subject_key" ON "books_violations"("rule", "subject");

-- A closed statement never changes, whoever asks; neither do the movements and sums it is made of.
-- A rebuild replaces movements by the same ones, and says so for its own transaction only.
CREATE FUNCTION books_refuse() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'books: a closed statement never changes (%)', TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE FUNCTION books_refuse_where_closed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('wagergate.books_rebuild', true) = 'on' THEN
        RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    END IF;
    IF TG_OP <> 'INSERT' AND EXISTS (SELECT 1 FROM books_statements s
               WHERE s.operator_id = OLD.operator_id AND s.day = OLD.day)
       OR TG_OP <> 'DELETE' AND EXISTS (SELECT 1 FROM books_statements s
               WHERE s.operator_id = NEW.operator_id AND s.day = NEW.day) THEN
        RAISE EXCEPTION 'books: a closed statement never changes (%)', TG_TABLE_NAME
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
END $$;

CREATE TRIGGER "books_statements_stand" BEFORE UPDATE OR DELETE ON "books_statements"
    FOR EACH ROW EXECUTE FUNCTION books_refuse();
CREATE TRIGGER "books_statements_stay" BEFORE TRUNCATE ON "books_statements"
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse();
CREATE TRIGGER "books_days_stand" BEFORE INSERT OR UPDATE OR DELETE ON "books_days"
    FOR EACH ROW EXECUTE FUNCTION books_refuse_where_closed();
CREATE TRIGGER "books_movements_stand" BEFORE INSERT OR UPDATE OR DELETE ON "books_movements"
    FOR EACH ROW EXECUTE FUNCTION books_refuse_where_closed();
