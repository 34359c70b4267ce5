-- Deliveries of bets in the books of an older wallet are held one by one, out of the drain's way.

ALTER TABLE "deliveries" ADD COLUMN "held" BOOLEAN NOT NULL DEFAULT false;
