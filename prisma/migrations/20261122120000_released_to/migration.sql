-- A release says to which wallet: a process that has not read of that one yet would send to the one before. 0: an earlier
-- release of the gateway has written it, and nobody knows.

ALTER TABLE "operator_holds" ADD COLUMN "released_to" INTEGER NOT NULL DEFAULT 0;
