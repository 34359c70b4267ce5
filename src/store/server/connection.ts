import { Client, type ClientConfig } from 'pg';

type Settings = Readonly<Record<string, string>>;

/** Statements and results depend on these: each connection asks for them, whatever the role or server has. */
export const OUR_SETTINGS = {
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  array_nulls: 'on',
  bytea_output: 'hex',
  // Statements read a row again after waiting for its lock; with one snapshot for a transaction they could not.
  default_transaction_isolation: 'read committed',
  extra_float_digits: '1',
  // Only the gateway ends idle connections: the server could end one just as a call begins on it.
  idle_session_timeout: '0',
  standard_conforming_strings: 'on',
} as const satisfies Settings;

/** For connections whose statements are short and have their own time limits. */
export const SHORT_SETTINGS = {
  // Only the time limit of the statement applies, no shorter one for a lock.
  lock_timeout: '0',
  // Compiling takes longer than any such statement, and the estimates that trigger it are wrong for new tables.
  jit: 'off',
  plan_cache_mode: 'force_custom_plan',
} as const satisfies Settings;

/**
 * Checks silent connections after 30 s, four times: the server would keep those of a failed machine for two hours.
 * An unacknowledged answer has the same 70 s: while it is sent again, its transaction's locks stay.
 */
const GIVEN_UP_AFTER = {
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '4',
  tcp_user_timeout: '70000',
} as const satisfies Settings;

/** No time limit of the role ends long work. Set later, because a pooler may drop it at the start. */
const NO_LIMITS = `
  SELECT set_config(name, '0', false) FROM pg_settings
   WHERE name IN ('statement_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
                  'transaction_timeout')`;

/**
 * How a connection of the gateway starts, whatever the server's settings.
 * @param url its `options` (such as `-c search_path=…`) apply if they are about other settings
 * @param name shown by `pg_stat_activity` @param settings further ones
 */
export function connectionTo(
  url: string,
  name: string,
  settings: Settings,
): Pick<ClientConfig, 'connectionString' | 'application_name' | 'options'> {
  const { connectionString, options } = withoutOurs(url);
  const ours = Object.entries({ ...OUR_SETTINGS, ...GIVEN_UP_AFTER, ...settings }).map(
    ([key, value]) => `-c ${key}=${value.replaceAll(/[\\ ]/g, '\\$&')}`,
  );
  return {
    connectionString,
    application_name: name,
    // If two are about the same setting, the last applies.
    options: [...options, ...ours].join(' '),
  };
}

/** Parameters of a URL that `pg` prefers to ours: its options would replace all of them. */
const OURS_IN_URL = [
  'options',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
];

function withoutOurs(url: string): { connectionString: string; options: string[] } {
  const parsed = new URL(url);
  const options = parsed.searchParams.getAll('options');
  const ours = OURS_IN_URL.filter((name) => parsed.searchParams.has(name));
  if (ours.length === 0) return { connectionString: url, options };
  for (const name of ours) parsed.searchParams.delete(name);
  return { connectionString: parsed.href, options };
}

/**
 * A connection for long statements, without time limits, which its caller must end.
 * @param use `pg_stat_activity` shows `wagergate-<use>` @throws Error of `pg` when it cannot be reached
 */
export async function openLongConnection(databaseUrl: string, use: string): Promise<Client> {
  const client = await open(databaseUrl, use, {});
  try {
    await client.query(NO_LIMITS);
    return client;
  } catch (error) {
    await client.end();
    throw error;
  }
}

/**
 * A connection for a few short reads. It sets no limits later: a pooler gives the session to others.
 * @param answerMs how long an answer may take; default: unlimited @returns, @throws as `openLongConnection`
 */
export async function openBriefConnection(
  databaseUrl: string,
  use: string,
  answerMs = 0,
): Promise<Client> {
  const { lock_timeout } = SHORT_SETTINGS;
  const noLimits = {
    statement_timeout: '0',
    idle_in_transaction_session_timeout: '0',
    lock_timeout,
  };
  return await open(databaseUrl, use, noLimits, answerMs);
}

/** Does work on a connection that one of these has opened, and ends it. */
export async function withConnection<T>(
  opening: Promise<Client>,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = await opening;
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function open(
  databaseUrl: string,
  use: string,
  settings: Settings,
  answerMs = 0,
): Promise<Client> {
  const client = new Client({
    ...connectionTo(databaseUrl, `wagergate-${use}`, settings),
    connectionTimeoutMillis: 10_000,
    query_timeout: answerMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // If the connection breaks between two queries, the next query fails.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}
