import { onServer } from './server.ts';

/** Tables whose rows PostgreSQL dates itself, by a default that does not look a function up by its name. */
const DATED = ['bets', 'operations', 'deliveries'];

/** Creates, in one database, a clock that tests can set: found before PostgreSQL's own functions. */
const CLOCK = `
  CREATE SCHEMA set_clock;
  CREATE TABLE set_clock.clock AS SELECT interval '0' AS off;
  CREATE FUNCTION set_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS $$ SELECT pg_catalog.clock_timestamp() + off FROM set_clock.clock $$;
  CREATE FUNCTION set_clock.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
    AS $$ SELECT pg_catalog.statement_timestamp() + off FROM set_clock.clock $$;
  DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET search_path = public, set_clock, pg_catalog', current_database());
  END $$;
  ${DATED.map((table) => `ALTER TABLE ${table} ALTER created_at SET DEFAULT set_clock.clock_timestamp();`).join('\n  ')}`;

/** Call it before the gateway connects: connections that are open already keep to PostgreSQL's own clock. */
export async function makeClockSettable(databaseUrl: string): Promise<void> {
  await onServer(databaseUrl, (client) => client.query(CLOCK));
}

/** Sets the database's clock this far from the right time, such as `1 day` or `-1 hour`. */
export async function setClock(databaseUrl: string, off: string): Promise<void> {
  await onServer(databaseUrl, (client) =>
    client.query('UPDATE set_clock.clock SET off = $1::interval', [off]),
  );
}
