import { Client, type ClientConfig } from 'pg';
import { connectionChecks, type KnownDatabase } from './on-connect.ts';

type Settings = Readonly<Record<string, string>>;

/**
 * What a statement means and what its answer looks like depends on these, and a server, a database or a
 * role may have them otherwise: each connection asks for its own, so that nothing else counts.
 */
export const OUR_SETTINGS = {
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  array_nulls: 'on',
  bytea_output: 'hex',
  // Statements look at a row again when they have waited for it; of one state of everything they cannot.
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
} as const satisfies Settings;

/** For connections whose statements are short and have a limit of time of their own. */
export const SHORT_SETTINGS = {
  // Nobody waits any shorter for a row than for the statement.
  lock_timeout: '0',
  // Compiling takes longer than any such statement, and estimates that choose it are wrong for young tables.
  jit: 'off',
  plan_cache_mode: 'force_custom_plan',
} as const satisfies Settings;

/**
 * A server would keep connections of a gateway whose machine or network has gone for two hours, against its
 * `max_connections`; so it asks whether they are there: after 30 s of silence, four times.
 */
const KEEPALIVES = {
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '4',
} as const satisfies Settings;

/**
 * No limit of the role ends what takes long; how long it may wait for a lock is the role's to say. Not asked
 * for at the start of a connection, where a pooler may drop it; servers before 17 know three of them.
 */
const NO_LIMITS = `
  SELECT set_config(name, '0', false) FROM pg_settings
   WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
                  'transaction_timeout')`;

/**
 * How a connection of the gateway begins, whatever the server's, the database's or the role's settings.
 *
 * @param url `DATABASE_URL`; `options` in it (such as `-c search_path=…`) count where they are about other settings
 * @param name as `pg_stat_activity` shows it
 * @param settings further ones, by their names in PostgreSQL
 */
export function connectionTo(
  url: string,
  name: string,
  settings: Settings,
): Pick<ClientConfig, 'connectionString' | 'application_name' | 'options'> {
  const { connectionString, options } = withoutOptions(url);
  const ours = Object.entries({ ...OUR_SETTINGS, ...KEEPALIVES, ...settings }).map(
    ([key, value]) => `-c ${key}=${value.replaceAll(/[\\ ]/g, '\\$&')}`,
  );
  return {
    connectionString,
    application_name: name,
    // The last of two that are about the same counts.
    options: [...options, ...ours].join(' '),
  };
}

/** Those of the URL would replace ours as a whole. */
function withoutOptions(url: string): { connectionString: string; options: string[] } {
  const parsed = new URL(url);
  const options = parsed.searchParams.getAll('options');
  if (options.length === 0) return { connectionString: url, options };
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, options };
}

/** Where a database is, and which one. */
export interface DatabaseAddress {
  readonly url: string;
  /** Of a process that goes on for long; see `connectionChecks`. Default: nothing. */
  readonly known?: KnownDatabase;
}

/**
 * A connection whose statements may take long: no limit of time ends them. A server that has lost its power
 * says nothing, and whoever only waits for its answer would wait for ever: its silence is noticed.
 *
 * @param use what it is for; `pg_stat_activity` shows `wagergate-<use>`
 * @returns the connection, which whoever asked for it ends
 * @throws Error of `pg` when the server cannot be reached
 * @throws UnsuitableServer when it sorts text otherwise than the database's indexes, or is not the known one
 */
export async function openLongConnection(
  { url, known }: DatabaseAddress,
  use: string,
): Promise<Client> {
  const client = new Client({
    ...connectionTo(url, `wagergate-${use}`, {}),
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // One that breaks between two queries: the next query tells.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(NO_LIMITS);
    await connectionChecks(known).onConnect(client);
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}
