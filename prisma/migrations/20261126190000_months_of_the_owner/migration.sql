-- A role that is only a member of the tables' owner would own the months that it makes: the owner could then neither
-- prune nor back them up, nor add a column to the journal, and a role with rotated logins could never be dropped.
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
        PERFORM journal_give_to_owner(quote_ident(parent), quote_ident(child));
        made := made + 1;
    END LOOP;
    RETURN made;
END $$;

CREATE FUNCTION journal_give_to_owner(parent REGCLASS, child REGCLASS) RETURNS VOID
    LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE (SELECT format('ALTER TABLE %s OWNER TO %s', child, relowner::regrole) FROM pg_class WHERE oid = parent);
EXCEPTION WHEN insufficient_privilege THEN
    -- The owner may create nothing in this schema, or may not be acted as: a month of another's is better than none.
    NULL;
END $$;

-- Those that exist, as far as this role may give them away.
SELECT count(journal_give_to_owner(p.oid, c.oid))
  FROM pg_inherits i
  JOIN pg_class p ON p.oid = i.inhparent
  JOIN pg_class c ON c.oid = i.inhrelid
 WHERE p.oid IN ('operations'::regclass, 'attempts'::regclass) AND c.relowner <> p.relowner;
