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
