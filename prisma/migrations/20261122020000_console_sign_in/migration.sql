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
