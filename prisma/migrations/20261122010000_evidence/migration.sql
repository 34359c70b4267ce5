-- What wallets answered, for people. No default that has to be written: the tables stay as they are.

ALTER TABLE "attempts"
    ADD COLUMN "wallet_type" TEXT,
    ADD COLUMN "wallet_body" BYTEA,
    ADD COLUMN "wallet_truncated" BOOLEAN NOT NULL DEFAULT false;
