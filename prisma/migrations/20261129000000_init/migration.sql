-- The journal: players, sessions, bets with their operations and attempts, deliveries.

CREATE TABLE "players" (
    "id" BIGSERIAL NOT NULL,
    "operator_id" TEXT NOT NULL,
    "operator_user" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "pruned_ordinal" INTEGER NOT NULL DEFAULT 0,

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
    "given_to" BYTEA[] DEFAULT ARRAY[]::BYTEA[],
    "given_dated" BYTEA[],
    "sealed_token" BYTEA,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "sessions_ended_reason_check" CHECK ("ended_reason" IN ('revoked', 'currency'))
);
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions"("token_hash");
CREATE UNIQUE INDEX "sessions_player_id_currency_operator_token_hash_ordinal_key"
    ON "sessions"("player_id", "currency", "operator_token_hash", "ordinal");

-- Without checks: each place would pay for them. What a row may hold is checked where it is read (src/store/bets/rows.ts).
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
    "place_answered_unknown" BOOLEAN NOT NULL DEFAULT false,
    "standing_operation_id" BIGINT,
    "late_kind" TEXT,
    "late_amount" TEXT,
    "late_type" TEXT,
    "late_at" TIMESTAMPTZ(3),
    "confirm_left" SMALLINT NOT NULL DEFAULT 0,
    "confirm_at" TIMESTAMPTZ(3),
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bets_pkey" PRIMARY KEY ("transaction_id")
) WITH (fillfactor = 80);
-- What a killed process left in flight; holds only what is in flight, so that a sweep costs nothing.
CREATE INDEX "bets_busy_until_idx" ON "bets"("busy_until") WHERE "busy_until" IS NOT NULL;
-- Places whose rollback never came; holds only what the gateway may have to roll back itself.
CREATE INDEX "bets_unknown_idx" ON "bets"("created_at")
    WHERE ("place" = 'unknown' OR "place" = 'accepted' AND "place_answered_unknown")
      AND "rollback" = 'none';

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
    "is_copy" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "operations_pkey" PRIMARY KEY ("id", "created_at")
) PARTITION BY RANGE ("created_at");
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
    "wallet_type" TEXT,
    "wallet_body" BYTEA,
    "wallet_truncated" BOOLEAN NOT NULL DEFAULT false,
    "sent" BOOLEAN NOT NULL DEFAULT true,
    "written_in" XID8 NOT NULL DEFAULT pg_current_xact_id(),
    "confirmed" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "attempts_pkey" PRIMARY KEY ("operation_id", "number", "started_at")
) PARTITION BY RANGE ("started_at");
CREATE INDEX "attempts_to_book_idx" ON "attempts"("written_in", "operation_id", "number")
    WHERE "confirmed";

CREATE TABLE "deliveries" (
    "id" BIGSERIAL NOT NULL,
    "operation_id" BIGINT NOT NULL,
    "operator_id" TEXT NOT NULL,
    "transaction_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "purpose" TEXT NOT NULL DEFAULT 'promise',
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
    "held" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "deliveries_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "deliveries_state_check" CHECK ("state" IN
        ('live', 'pending', 'delivered', 'refused', 'superseded', 'dead', 'resolved')),
    CONSTRAINT "deliveries_purpose_check" CHECK ("purpose" IN ('promise', 'confirm'))
);
CREATE UNIQUE INDEX "deliveries_operation_id_purpose_key" ON "deliveries"("operation_id", "purpose");
-- The drain's question: what is due at this operator? Only open rows are in it.
CREATE INDEX "deliveries_due_idx" ON "deliveries"("operator_id", "next_attempt_at")
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
    "hold_since" TIMESTAMPTZ(3),
    "hold_actor" TEXT,
    "hold_reason" TEXT,
    "released_to" INTEGER NOT NULL DEFAULT 0,

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

-- Rows of months without a table of their own.
CREATE TABLE "operations_rest" PARTITION OF "operations" DEFAULT;
CREATE TABLE "attempts_rest" PARTITION OF "attempts" DEFAULT;

-- Looks for a month's table among the partitions of the journal that it is for: another journal may be in a further
-- schema of `search_path`.
CREATE FUNCTION journal_has_table(parent TEXT, child TEXT) RETURNS BOOLEAN
    LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent = to_regclass(quote_ident(parent)) AND c.relname = child)
$$;

-- Makes the tables of a month, UTC, and moves its rows there. A role that is only a member of the tables' owner would
-- own the months that it makes, and the owner could neither prune nor back them up.
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
        CONTINUE WHEN journal_has_table(parent, child);
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_rest');
        -- Somebody else may have made it while this one waited.
        CONTINUE WHEN journal_has_table(parent, child);
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        EXECUTE format(
            'WITH moved AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *)
             INSERT INTO %I SELECT * FROM moved',
            parent || '_rest', key, from_time, key, to_time, child);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            parent, child, from_time, to_time);
        PERFORM journal_give_to_owner(quote_ident(parent), quote_ident(child));
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

CREATE FUNCTION journal_give_to_owner(parent REGCLASS, child REGCLASS) RETURNS VOID
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT format('ALTER TABLE %s OWNER TO %s', child, relowner::regrole) FROM pg_class WHERE oid = parent);
EXCEPTION WHEN insufficient_privilege THEN
    -- The owner may create nothing in this schema, or may not be acted as: a month of another's is better than none.
    NULL;
END $$;

SELECT journal_prepare_month(month)
  FROM generate_series(CURRENT_TIMESTAMP, CURRENT_TIMESTAMP + interval '2 months', interval '1 month') month;

-- The bonus API: who owns which template and bonus, and what was asked for before it was asked.
-- Ids of the service are its partner account's own, so every key begins with that account's cid.

CREATE TABLE "bonus_templates" (
    "upstream_cid" TEXT NOT NULL,
    "template_id" BIGINT NOT NULL,
    "operator_id" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bonus_templates_pkey" PRIMARY KEY ("upstream_cid", "template_id"),
    CONSTRAINT "bonus_templates_origin_check" CHECK ("origin" IN ('created', 'assigned'))
);
-- The list's question: which are this operator's, oldest first?
CREATE INDEX "bonus_templates_upstream_cid_operator_id_template_id_idx"
    ON "bonus_templates"("upstream_cid", "operator_id", "template_id");

CREATE TABLE "bonus_template_copies" (
    "upstream_cid" TEXT NOT NULL,
    "template_id" BIGINT NOT NULL,
    "item" TEXT,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bonus_template_copies_pkey" PRIMARY KEY ("upstream_cid", "template_id")
);

CREATE TABLE "bonuses" (
    "upstream_cid" TEXT NOT NULL,
    "bonus_id" BIGINT NOT NULL,
    "operator_id" TEXT NOT NULL,
    "template_id" BIGINT,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bonuses_pkey" PRIMARY KEY ("upstream_cid", "bonus_id")
);

CREATE TABLE "bonus_intents" (
    "id" BIGSERIAL NOT NULL,
    "upstream_cid" TEXT NOT NULL,
    "operator_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "body_hash" BYTEA NOT NULL,
    "body" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'open',
    "above_id" BIGINT,
    "template_id" BIGINT,
    "answer_status" INTEGER,
    "answer_body" TEXT,
    "reason" TEXT,
    "passes" INTEGER NOT NULL DEFAULT 0,
    "ambiguous" BOOLEAN NOT NULL DEFAULT false,
    "look_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "bonus_intents_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "bonus_intents_kind_check" CHECK ("kind" IN ('create', 'apply')),
    CONSTRAINT "bonus_intents_state_check" CHECK ("state" IN ('open', 'done', 'failed')),
    CONSTRAINT "bonus_intents_done_check"
        CHECK ("state" <> 'done' OR ("answer_status" IS NOT NULL AND "answer_body" IS NOT NULL))
);
-- One body of one operator is asked for once; what certainly failed may be asked for again.
CREATE UNIQUE INDEX "bonus_intents_body_key"
    ON "bonus_intents"("upstream_cid", "operator_id", "kind", "body_hash")
    WHERE "state" <> 'failed';
-- Holds only what is open: the read-back's question costs nothing while all is well.
CREATE INDEX "bonus_intents_open_idx" ON "bonus_intents"("upstream_cid", "look_at")
    WHERE "state" = 'open';
-- Which template an intent has become: the read-back must not give it to another one.
CREATE INDEX "bonus_intents_upstream_cid_template_id_idx"
    ON "bonus_intents"("upstream_cid", "template_id");

CREATE TABLE "bonus_grants" (
    "id" BIGSERIAL NOT NULL,
    "intent_id" BIGINT NOT NULL,
    "upstream_cid" TEXT NOT NULL,
    "operator_id" TEXT NOT NULL,
    "template_id" BIGINT NOT NULL,
    "user_id" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'open',
    "page" INTEGER NOT NULL DEFAULT 1,
    "looks" INTEGER NOT NULL DEFAULT 0,
    "look_at" TIMESTAMPTZ(3) NOT NULL,
    "item" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "bonus_grants_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "bonus_grants_state_check"
        CHECK ("state" IN ('open', 'issued', 'refused', 'absent'))
);
-- Two calls never wait for the same player's bonus of the same template.
CREATE UNIQUE INDEX "bonus_grants_open_key"
    ON "bonus_grants"("upstream_cid", "template_id", "user_id") WHERE "state" = 'open';
CREATE INDEX "bonus_grants_due_idx" ON "bonus_grants"("look_at") WHERE "state" = 'open';
CREATE INDEX "bonus_grants_intent_id_idx" ON "bonus_grants"("intent_id");

CREATE TABLE "bonus_walks" (
    "upstream_cid" TEXT NOT NULL,
    "next_page" INTEGER NOT NULL DEFAULT 1,
    "started_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "bonus_walks_pkey" PRIMARY KEY ("upstream_cid")
);

CREATE TABLE "operator_nonces" (
    "operator_id" TEXT NOT NULL,
    "nonce_hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operator_nonces_pkey" PRIMARY KEY ("operator_id", "nonce_hash")
);
CREATE INDEX "operator_nonces_expires_at_idx" ON "operator_nonces"("expires_at");

CREATE INDEX "sessions_seal_mark_idx" ON "sessions" (substring("operator_token" FROM 1 FOR 9), "id")
    WHERE "operator_token" IS NOT NULL;

CREATE INDEX "bets_confirm_at_idx" ON "bets"("confirm_at") WHERE "confirm_at" IS NOT NULL;

CREATE INDEX "bets_result_unknown_idx" ON "bets"("operator_id")
    WHERE "settlement" = 'unknown' AND "rollback" = 'none';

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

CREATE TRIGGER "books_statements_stand" BEFORE UPDATE OR DELETE ON "books_statements"
    FOR EACH ROW EXECUTE FUNCTION books_refuse();
CREATE TRIGGER "books_statements_stay" BEFORE TRUNCATE ON "books_statements"
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse();

-- Who is signed in at the console, and the links that sign somebody in once. In PostgreSQL, so that
-- every replica knows them and a sign-out holds everywhere at once. Neither holds what opens it: only
-- hashes.

CREATE TABLE "console_sessions" (
    "id_hash" BYTEA NOT NULL,
    "actor" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "signed_in_by" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "console_sessions_pkey" PRIMARY KEY ("id_hash"),
    CONSTRAINT "console_sessions_role_check" CHECK ("role" IN ('viewer', 'support', 'finance', 'admin')),
    CONSTRAINT "console_sessions_by_check" CHECK ("signed_in_by" IN ('issuer', 'link'))
);
CREATE INDEX "console_sessions_expires_at_idx" ON "console_sessions"("expires_at");

CREATE TABLE "console_links" (
    "token_hash" BYTEA NOT NULL,
    "actor" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "console_links_pkey" PRIMARY KEY ("token_hash"),
    CONSTRAINT "console_links_role_check" CHECK ("role" IN ('viewer', 'support', 'finance', 'admin'))
);
CREATE INDEX "console_links_expires_at_idx" ON "console_links"("expires_at");

-- Who changed what, when, from where and why; and deliveries that a person holds.

CREATE TABLE "audit" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "actor" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "operator_id" TEXT,
    "before" JSONB,
    "after" JSONB,
    "reason" TEXT,

    CONSTRAINT "audit_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "audit_at_idx" ON "audit"("at");
CREATE INDEX "audit_actor_id_idx" ON "audit"("actor", "id");
CREATE INDEX "audit_action_id_idx" ON "audit"("action", "id");
CREATE INDEX "audit_operator_id_id_idx" ON "audit"("operator_id", "id");

-- The gateway owns its tables, so rights alone would not keep it from changing rows.
CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER "audit_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit"
    FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse();

-- Search by people, newest first, each by an index. A place enters them when it is no longer in
-- flight, so that it costs one entry each and not two; what is in flight is found by its lease.

CREATE FUNCTION bet_state(place TEXT, settlement TEXT, rollback TEXT) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN rollback = 'confirmed' THEN 'rolled_back'
                WHEN rollback = 'promised' THEN 'rolling_back'
                WHEN settlement = 'settled' THEN 'settled'
                WHEN settlement = 'unknown' THEN 'settlement_unknown'
                ELSE place END;

CREATE INDEX "bets_state_idx"
    ON "bets"(bet_state("place", "settlement", "rollback"), "created_at", "transaction_id")
    WHERE "place" <> 'in_flight';
CREATE INDEX "bets_operator_state_idx"
    ON "bets"("operator_id", bet_state("place", "settlement", "rollback"), "created_at", "transaction_id")
    WHERE "place" <> 'in_flight';
CREATE INDEX "bets_player_idx"
    ON "bets"("player_id", "created_at", "transaction_id")
    WHERE "place" <> 'in_flight';

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

-- Search of bets by their stake, newest first. Short, and entered when a place is no longer in flight:
-- every place and every result pays for it. The text as it was written, because a cast to a number could
-- refuse what a service may send, and with it the bet.

CREATE INDEX "bets_amount_idx" ON "bets"("amount", "created_at")
    WHERE "place" <> 'in_flight' AND "amount" IS NOT NULL;

-- A closed statement never changes: asked once a statement of all the rows it wrote, not once a row. Each
-- place is booked, and the question for each row was a third of what its booking took.

CREATE FUNCTION books_refuse_rows_where_closed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('wagergate.books_rebuild', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF EXISTS (SELECT 1 FROM books_changed_rows r JOIN books_statements s USING (operator_id, day)) THEN
        RAISE EXCEPTION 'books: a closed statement never changes (%)', TG_TABLE_NAME
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;


CREATE TRIGGER "books_days_insert_stand" AFTER INSERT ON "books_days"
    REFERENCING NEW TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_days_delete_stand" AFTER DELETE ON "books_days"
    REFERENCING OLD TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_days_update_from_stand" AFTER UPDATE ON "books_days"
    REFERENCING OLD TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_days_update_to_stand" AFTER UPDATE ON "books_days"
    REFERENCING NEW TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_movements_insert_stand" AFTER INSERT ON "books_movements"
    REFERENCING NEW TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_movements_delete_stand" AFTER DELETE ON "books_movements"
    REFERENCING OLD TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_movements_update_from_stand" AFTER UPDATE ON "books_movements"
    REFERENCING OLD TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_movements_update_to_stand" AFTER UPDATE ON "books_movements"
    REFERENCING NEW TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();

-- The person's question: what waits, where, oldest first? By the drain's index all of it would be sorted for
-- each page, by the key every delivery there ever was would be read.
CREATE INDEX "deliveries_pending_idx" ON "deliveries"("operator_id", "id")
    WHERE "state" = 'pending';

-- The metrics' question: of how many places does nobody know the outcome, operator by operator? In the order
-- of this index they are counted in pieces, so that millions at one operator hide nobody else's.
CREATE INDEX "bets_unresolved_idx" ON "bets"("operator_id", "transaction_id")
    WHERE ("place" = 'unknown' OR "place" = 'accepted' AND "place_answered_unknown")
      AND "rollback" = 'none';

-- What is promised for this bet? No other index has these words: with the condition of the drain's index, PostgreSQL
-- would read all open deliveries for each bet while its statistics are from before an outage.
CREATE INDEX "deliveries_bet_open_idx" ON "deliveries"("transaction_id")
    WHERE CASE WHEN "state" IN ('live', 'pending') THEN true ELSE false END;

-- Has this bet a dead letter? Words of its own for the same reason.
CREATE INDEX "deliveries_bet_dead_idx" ON "deliveries"("transaction_id")
    WHERE CASE WHEN "state" = 'dead' THEN true ELSE false END;
