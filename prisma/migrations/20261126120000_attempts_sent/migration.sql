-- Whether a byte of an attempt may have left towards the wallet. A result that never left changed nothing there, so that
-- the one before it, asked for again, is still a repeat (dialect `stableRequestId`). Without a default: of what is there
-- already nobody knows it, nor of what an earlier release writes, and then it counts as sent.

ALTER TABLE "attempts" ADD COLUMN "sent" BOOLEAN;
