-- Looks for a month's table among the partitions of the journal that it is for. By its name alone, that of
-- another journal counted, which stands in a further schema of `search_path`: then no month was ever made.
CREATE OR REPLACE FUNCTION journal_prepare_month(of_time TIMESTAMPTZ) RETURNS INTEGER
    LANGUAGE plpgsql SET timezone = 'UTC' SET lock_timeout = '2s' AS $$
DECLARE
    from_time CONSTANT TIMESTAMPTZ := date_trunc('month', of_time);
    to_time CONSTANT TIMESTAMPTZ := from_time + interval '1 month';
    parent TEXT;
    key TEXT;
    child TEXT;
    made INTEGER := 0;
BEGIN
    FOR parent, key IN VALUES ('operations', 'created_at'), ('attempts', 'started_at') LOOP
        child := parent || to_char(from_time, '_YYYY_MM');
        CONTINUE WHEN journal_has_table(parent, child);
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_rest');
        -- Somebody else may have made it while this one waited.
        CONTINUE WHEN journal_has_table(parent, child);
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
        EXECUTE format(
            'WITH moved AS (DELETE FROM %I WHERE %I >= %L AND %I < %L RETURNING *)
             INSERT INTO %I SELECT * FROM moved',
            parent || '_rest', key, from_time, key, to_time, child);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
            parent, child, from_time, to_time);
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

CREATE FUNCTION journal_has_table(parent TEXT, child TEXT) RETURNS BOOLEAN
    LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent = to_regclass(quote_ident(parent)) AND c.relname = child)
$$;
