-- The journal's bulk by month (UTC), so that an old month goes with its table and not row by row.
-- What belongs to no prepared month lands in `*_rest`: nothing is ever refused for want of a table.
-- `bets` stays whole: one unique row for each transactionId (I6).

ALTER SEQUENCE "operations_id_seq" OWNED BY NONE;
ALTER TABLE "operations" RENAME TO "operations_flat";
ALTER TABLE "operations_flat" RENAME CONSTRAINT "operations_pkey" TO "operations_flat_pkey";
ALTER INDEX "operations_transaction_id_idx" RENAME TO "operations_flat_transaction_id_idx";
ALTER TABLE "attempts" RENAME TO "attempts_flat";
ALTER TABLE "attempts_flat" RENAME CONSTRAINT "attempts_pkey" TO "attempts_flat_pkey";

CREATE TABLE "operations" (
    "id" BIGINT NOT NULL DEFAULT nextval('operations_id_seq'),
    "transaction_id" TEXT NOT NULL,
    "operator_id" TEXT,
    "operation" TEXT NOT NULL,
    "attempt_id" UUID NOT NULL,
    "request_id" TEXT,
    "body" BYTEA NOT NULL,
    "answer_status" INTEGER,
    "answer_body" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "operations_pkey" PRIMARY KEY ("id", "created_at")
) PARTITION BY RANGE ("created_at");
CREATE INDEX "operations_transaction_id_idx" ON "operations"("transaction_id");
ALTER SEQUENCE "operations_id_seq" OWNED BY "operations"."id";

CREATE TABLE "attempts" (
    "operation_id" BIGINT NOT NULL,
    "number" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "latency_ms" INTEGER NOT NULL,
    "result" TEXT NOT NULL,
    "status" INTEGER,
    "code" INTEGER,
    "error" TEXT,
    "answer_status" INTEGER,
    "answer_body" TEXT,

    CONSTRAINT "attempts_pkey" PRIMARY KEY ("operation_id", "number", "started_at")
) PARTITION BY RANGE ("started_at");

CREATE TABLE "operations_rest" PARTITION OF "operations" DEFAULT;
CREATE TABLE "attempts_rest" PARTITION OF "attempts" DEFAULT;

-- Makes the tables of one month, where they are missing, with what of that month has already come.
-- Returns how many it made. Several processes may call it at once.
CREATE FUNCTION journal_prepare_month(of_time TIMESTAMPTZ) RETURNS INTEGER
    LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
    from_time CONSTANT TIMESTAMPTZ := date_trunc('month', of_time);
    to_time CONSTANT TIMESTAMPTZ := from_time + interval '1 month';
    parent TEXT;
    key TEXT;
    child TEXT;
    made INTEGER := 0;
BEGIN
    FOR parent, key IN VALUES ('operations', 'created_at'), ('attempts', 'started_at') LOOP
        child := parent || to_char(from_time, '_YYYY_MM');
        CONTINUE WHEN to_regclass(quote_ident(child)) IS NOT NULL;
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_rest');
        -- Somebody else may have made it while this one waited.
        CONTINUE WHEN to_regclass(quote_ident(child)) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        EXECUTE format(
            'WITH moved AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *)
             INSERT INTO %I SELECT * FROM moved',
            parent || '_rest', key, from_time, key, to_time, child);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            parent, child, from_time, to_time);
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

DO $$
BEGIN
    PERFORM journal_prepare_month(month)
       FROM generate_series(
                (SELECT least(min(o.created_at), CURRENT_TIMESTAMP) FROM operations_flat o),
                CURRENT_TIMESTAMP + interval '2 months', interval '1 month') month;
END $$;

INSERT INTO "operations" SELECT * FROM "operations_flat";
INSERT INTO "attempts" SELECT * FROM "attempts_flat";
DROP TABLE "operations_flat";
DROP TABLE "attempts_flat";
