-- Reconciliations: the journal's bets of some days compared with somebody's list of them. The list
-- itself stands in a temporary table of the run's own connection, never in these.

CREATE TABLE "reconciliations" (
    "id" BIGSERIAL NOT NULL,
    "operator_id" TEXT NOT NULL,
    "from_day" DATE NOT NULL,
    "to_day" DATE NOT NULL,
    "time_zone" TEXT NOT NULL,
    "actor" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'reading',
    "why" TEXT,
    "columns" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "lines" BIGINT NOT NULL DEFAULT 0,
    "bytes" BIGINT NOT NULL DEFAULT 0,
    "counts" JSONB,
    "open" JSONB,
    "new_count" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "alive_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "reconciliations_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "reconciliations_state_check"
        CHECK ("state" IN ('reading', 'comparing', 'done', 'failed')),
    -- What is not done must not look as if it were.
    CONSTRAINT "reconciliations_done_check"
        CHECK (("state" = 'done') = ("counts" IS NOT NULL AND "open" IS NOT NULL)),
    CONSTRAINT "reconciliations_days_check" CHECK ("from_day" <= "to_day")
);
CREATE INDEX "reconciliations_operator_id_id_idx" ON "reconciliations"("operator_id", "id");
-- The metric's question: which is an operator's newest?
CREATE INDEX "reconciliations_done_idx" ON "reconciliations"("operator_id", "id") WHERE "state" = 'done';
-- Which process has gone away in the middle of one? Next to nothing is in it.
CREATE INDEX "reconciliations_running_idx" ON "reconciliations"("alive_at")
    WHERE "state" IN ('reading', 'comparing');

CREATE TABLE "reconciliation_differences" (
    "id" BIGSERIAL NOT NULL,
    "operator_id" TEXT NOT NULL,
    "identity" BYTEA NOT NULL,
    "kind" TEXT NOT NULL,
    "transaction_id" TEXT,
    "here" JSONB,
    "there" JSONB,
    "first_run_id" BIGINT NOT NULL,
    "first_found_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "resolved_at" TIMESTAMPTZ(3),
    "resolved_by" TEXT,
    "resolved_why" TEXT,

    CONSTRAINT "reconciliation_differences_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "reconciliation_differences_kind_check"
        CHECK ("kind" IN ('missing_there', 'missing_here', 'amount_differs', 'state_differs',
                          'currency_differs', 'duplicate_there', 'unreadable')),
    CONSTRAINT "reconciliation_differences_resolved_check"
        CHECK (("resolved_at" IS NULL) = ("resolved_why" IS NULL)
               AND ("resolved_at" IS NULL) = ("resolved_by" IS NULL))
);
CREATE UNIQUE INDEX "reconciliation_differences_operator_id_identity_key"
    ON "reconciliation_differences"("operator_id", "identity");

CREATE TABLE "reconciliation_found" (
    "reconciliation_id" BIGINT NOT NULL,
    "position" INTEGER NOT NULL,
    "difference_id" BIGINT NOT NULL,
    "line" BIGINT,
    "reason" TEXT,
    "is_known" BOOLEAN NOT NULL,

    CONSTRAINT "reconciliation_found_pkey" PRIMARY KEY ("reconciliation_id", "position")
);
CREATE INDEX "reconciliation_found_difference_id_idx" ON "reconciliation_found"("difference_id");
