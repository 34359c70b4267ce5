-- What may still land late at a wallet belongs to the bet, and so does the duty to send what stands
-- once more; what counts of a place is what the service was told.

ALTER TABLE "bets"
    ADD COLUMN "place_answered_unknown" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "standing_operation_id" BIGINT,
    ADD COLUMN "late_kind" TEXT,
    ADD COLUMN "late_amount" TEXT,
    ADD COLUMN "late_type" TEXT,
    ADD COLUMN "late_at" TIMESTAMPTZ(3),
    ADD COLUMN "confirm_left" SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN "confirm_at" TIMESTAMPTZ(3),
    ADD CONSTRAINT "bets_late_check"
        CHECK ("late_kind" IN ('place', 'settle', 'unsettle', 'several')),
    ADD CONSTRAINT "bets_confirm_check"
        CHECK ("confirm_left" = 0 OR ("late_kind" IS NOT NULL AND "late_at" IS NOT NULL));

-- Holds only bets with a confirmation to come, so that the sweep's question costs nothing.
CREATE INDEX "bets_confirm_at_idx" ON "bets"("confirm_at") WHERE "confirm_at" IS NOT NULL;

-- Told 100 counts like unknown: rolled back by the gateway where the service never does.
DROP INDEX "bets_unknown_idx";
CREATE INDEX "bets_unknown_idx" ON "bets"("created_at")
    WHERE ("place" = 'unknown' OR "place" = 'accepted' AND "place_answered_unknown")
      AND "rollback" = 'none';

-- An operation may be promised once and, later, be sent once more to confirm it.
DROP INDEX "deliveries_operation_id_key";
CREATE UNIQUE INDEX "deliveries_operation_id_purpose_key" ON "deliveries"("operation_id", "purpose");

-- A copy that was answered from the journal is on record too, and orders nothing.
ALTER TABLE "operations" ADD COLUMN "is_copy" BOOLEAN NOT NULL DEFAULT false;

-- Rollbacks that were confirmed once and waited to be confirmed again are delivered; what is left
-- of that duty goes to their bets.
UPDATE "bets" b
   SET "standing_operation_id" = d."operation_id", "late_kind" = 'place', "late_at" = clock_timestamp(),
       "confirm_left" = 2, "confirm_at" = d."next_attempt_at"
  FROM "deliveries" d
 WHERE d."transaction_id" = b."transaction_id" AND d."state" = 'pending'
   AND d."confirmations" > 0;
UPDATE "deliveries" SET "state" = 'delivered', "settled_at" = clock_timestamp()
 WHERE "state" = 'pending' AND "confirmations" > 0;
ALTER TABLE "deliveries" DROP COLUMN "confirmations";
