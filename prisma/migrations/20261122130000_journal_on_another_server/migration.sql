-- The ids of transactions belong to one server. A journal that is brought to another one as rows (a dump, logical
-- replication) holds ids that its new server has still to reach, and what is written from then on would stand
-- before them: the books would read neither. `wagergate migrate` finds that, and replaces this function's body by one that
-- goes on above the ids that are there.
CREATE FUNCTION "journal_written_in"("id" XID8) RETURNS XID8
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT "id" $$;
ALTER TABLE "attempts" ALTER COLUMN "written_in" SET DEFAULT "journal_written_in"(pg_current_xact_id());
