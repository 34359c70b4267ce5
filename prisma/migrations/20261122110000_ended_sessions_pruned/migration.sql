-- Sessions that were ended are pruned where nothing that somebody has kept could open them again: an issued one whose
-- requests all name their time, or carry a nonce. Without a default: of what is there already nobody knows it, nor of
-- what an earlier release opens.

ALTER TABLE "sessions" ADD COLUMN "given_dated" BYTEA[];
