-- Sessions that expired long ago are pruned. A session's token is derived with its ordinal: the highest one that is
-- gone is remembered with its player, so that no later session gets it again.

ALTER TABLE "players" ADD COLUMN "pruned_ordinal" INTEGER NOT NULL DEFAULT 0;
