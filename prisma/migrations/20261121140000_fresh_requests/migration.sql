-- What keeps captured requests of operators from being used again.

-- SHA-256 of each request that the session was given to and that does not grow old by itself: none
-- of them opens another after it was revoked.
ALTER TABLE "sessions" ADD COLUMN "given_to" BYTEA[] DEFAULT ARRAY[]::BYTEA[];

-- Nonces that were used, as SHA-256, until no request that carries one could be taken any more.
CREATE TABLE "operator_nonces" (
    "operator_id" TEXT NOT NULL,
    "nonce_hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operator_nonces_pkey" PRIMARY KEY ("operator_id", "nonce_hash")
);
CREATE INDEX "operator_nonces_expires_at_idx" ON "operator_nonces"("expires_at");
