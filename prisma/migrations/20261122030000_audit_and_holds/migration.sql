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

ALTER TABLE "operator_holds"
    ADD COLUMN "hold_since" TIMESTAMPTZ(3),
    ADD COLUMN "hold_actor" TEXT,
    ADD COLUMN "hold_reason" TEXT;
