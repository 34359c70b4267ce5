-- A closed statement never changes: asked once a statement of all the rows it wrote, not once a row. Each
-- place is booked, and the question for each row was a third of what its booking took.

CREATE FUNCTION books_refuse_rows_where_closed() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('wagergate.books_rebuild', true) = 'on' THEN
        RETURN NULL;
    END IF;
    IF EXISTS (SELECT 1 FROM books_changed_rows r JOIN books_statements s USING (operator_id, day)) THEN
        RAISE EXCEPTION 'books: a closed statement never changes (%)', TG_TABLE_NAME
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;

DROP TRIGGER "books_days_stand" ON "books_days";
DROP TRIGGER "books_movements_stand" ON "books_movements";
DROP FUNCTION books_refuse_where_closed();

CREATE TRIGGER "books_days_insert_stand" AFTER INSERT ON "books_days"
    REFERENCING NEW TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_days_delete_stand" AFTER DELETE ON "books_days"
    REFERENCING OLD TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_days_update_from_stand" AFTER UPDATE ON "books_days"
    REFERENCING OLD TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_days_update_to_stand" AFTER UPDATE ON "books_days"
    REFERENCING NEW TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_movements_insert_stand" AFTER INSERT ON "books_movements"
    REFERENCING NEW TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_movements_delete_stand" AFTER DELETE ON "books_movements"
    REFERENCING OLD TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_movements_update_from_stand" AFTER UPDATE ON "books_movements"
    REFERENCING OLD TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
CREATE TRIGGER "books_movements_update_to_stand" AFTER UPDATE ON "books_movements"
    REFERENCING NEW TABLE AS books_changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION books_refuse_rows_where_closed();
