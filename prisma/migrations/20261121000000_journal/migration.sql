-- The journal: players, sessions, bets with their operations and attempts, deliveries.

CREATE TABLE "players" (
    "id" BIGSERIAL NOT NULL,
    "operator_id" TEXT NOT NULL,
    "operator_user" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "players_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "players_user_id_key" ON "players"("user_id");
CREATE UNIQUE INDEX "players_operator_id_operator_user_key" ON "players"("operator_id", "operator_user");

CREATE TABLE "sessions" (
    "id" BIGSERIAL NOT NULL,
    "player_id" BIGINT NOT NULL,
    "operator_id" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "token" TEXT,
    "operator_token" BYTEA NOT NULL,
    "operator_token_hash" BYTEA NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),
    "ended_reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "sessions_ended_reason_check" CHECK ("ended_reason" IN ('revoked', 'currency'))
);
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions"("token_hash");
CREATE UNIQUE INDEX "sessions_player_id_currency_operator_token_hash_ordinal_key"
    ON "sessions"("player_id", "currency", "operator_token_hash", "ordinal");

CREATE TABLE "bets" (
    "transaction_id" TEXT NOT NULL,
    "operator_id" TEXT,
    "player_id" BIGINT,
    "session_id" BIGINT,
    "amount" TEXT,
    "currency" TEXT,
    "generation" INTEGER NOT NULL,
    "place" TEXT NOT NULL,
    "place_time" TEXT,
    "place_code" INTEGER,
    "place_message" TEXT,
    "settlement" TEXT NOT NULL DEFAULT 'none',
    "settlement_amount" TEXT,
    "settlement_type" TEXT,
    "settlement_time" TEXT,
    "rollback" TEXT NOT NULL DEFAULT 'none',
    "rollback_time" TEXT,
    "rollback_code" INTEGER,
    "rollback_message" TEXT,
    "update_key" TEXT,
    "update_time" TEXT,
    "busy_operation" TEXT,
    "busy_attempt" UUID,
    "busy_until" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bets_pkey" PRIMARY KEY ("transaction_id"),
    CONSTRAINT "bets_place_check"
        CHECK ("place" IN ('unseen', 'in_flight', 'accepted', 'declined', 'not_sent', 'unknown')),
    CONSTRAINT "bets_settlement_check"
        CHECK ("settlement" IN ('none', 'settled', 'unsettled', 'unknown')),
    CONSTRAINT "bets_rollback_check" CHECK ("rollback" IN ('none', 'promised', 'confirmed')),
    -- A place in flight is always somebody's: the attempt named here, until its lease ends.
    CONSTRAINT "bets_in_flight_check" CHECK ("place" <> 'in_flight' OR "busy_attempt" IS NOT NULL)
) WITH (fillfactor = 80);
-- What a killed process left in flight; holds only what is in flight, so that a sweep costs nothing.
CREATE INDEX "bets_busy_until_idx" ON "bets"("busy_until") WHERE "busy_until" IS NOT NULL;
-- Places whose rollback never came; holds only what the gateway may have to roll back itself.
CREATE INDEX "bets_unknown_idx" ON "bets"("created_at")
    WHERE "place" = 'unknown' AND "rollback" = 'none';

CREATE TABLE "operations" (
    "id" BIGSERIAL NOT NULL,
    "transaction_id" TEXT NOT NULL,
    "operator_id" TEXT,
    "operation" TEXT NOT NULL,
    "attempt_id" UUID NOT NULL,
    "request_id" TEXT,
    "body" BYTEA NOT NULL,
    "answer_status" INTEGER,
    "answer_body" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "operations_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "operations_transaction_id_idx" ON "operations"("transaction_id");

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

    CONSTRAINT "attempts_pkey" PRIMARY KEY ("operation_id", "number")
);

CREATE TABLE "deliveries" (
    "id" BIGSERIAL NOT NULL,
    "operation_id" BIGINT NOT NULL,
    "operator_id" TEXT NOT NULL,
    "transaction_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "purpose" TEXT NOT NULL DEFAULT 'promise',
    "confirmations" INTEGER NOT NULL DEFAULT 0,
    "settle_amount" TEXT,
    "settle_type" TEXT,
    "transaction_time" TEXT NOT NULL,
    "last_error" TEXT,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "dead_at" TIMESTAMPTZ(3) NOT NULL,
    "held_ms" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),
    "resolved_by" TEXT,
    "resolved_why" TEXT,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "deliveries_state_check" CHECK ("state" IN
        ('live', 'pending', 'delivered', 'refused', 'superseded', 'dead', 'resolved')),
    CONSTRAINT "deliveries_purpose_check" CHECK ("purpose" IN ('promise', 'confirm'))
);
CREATE UNIQUE INDEX "deliveries_operation_id_key" ON "deliveries"("operation_id");
-- The drain's question: what is due at this operator? Only open rows are in it.
CREATE INDEX "deliveries_due_idx" ON "deliveries"("operator_id", "next_attempt_at")
    WHERE "state" IN ('live', 'pending');
-- The journal's question: what is promised for this bet?
CREATE INDEX "deliveries_open_of_bet_idx" ON "deliveries"("transaction_id")
    WHERE "state" IN ('live', 'pending');
-- The person's question: what died, where?
CREATE INDEX "deliveries_dead_idx" ON "deliveries"("operator_id", "id") WHERE "state" = 'dead';

-- The metrics' question: what came home since the last look? These states are never left again.
CREATE INDEX "deliveries_settled_at_idx" ON "deliveries"("settled_at")
    WHERE "state" IN ('delivered', 'refused', 'superseded', 'resolved');

CREATE TABLE "operator_holds" (
    "operator_id" TEXT NOT NULL,
    "held_ms" BIGINT NOT NULL DEFAULT 0,
    "released" INTEGER NOT NULL DEFAULT 0,
    "counted_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operator_holds_pkey" PRIMARY KEY ("operator_id")
);

CREATE TABLE "breaker_overrides" (
    "operator_id" TEXT NOT NULL,
    "class" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "breaker_overrides_pkey" PRIMARY KEY ("operator_id", "class"),
    CONSTRAINT "breaker_overrides_state_check" CHECK ("state" IN ('closed', 'open'))
);
