-- Keys that seal tokens can be rotated: a session's own token, sealed, where the key that it was
-- derived with is on its way out, and an index that finds what another key has sealed.

ALTER TABLE "sessions" ADD COLUMN "sealed_token" BYTEA;

-- How it is sealed (1 byte) and by which key (8 bytes). The condition always holds: like every index
-- that has one, this one is no matter of schema.prisma, which cannot describe an expression.
CREATE INDEX "sessions_seal_mark_idx" ON "sessions" (substring("operator_token" FROM 1 FOR 9), "id")
    WHERE "operator_token" IS NOT NULL;
