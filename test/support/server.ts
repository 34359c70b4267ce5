import { Client } from 'pg';

/** The URL of another database on the same PostgreSQL server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}

/** Waiting tests look every 50 ms: a new connection each time would take half a processor. */
const KEPT_MS = 250;

/** Idle connections, for whoever needs one soon enough. */
const kept = new Map<Client, { readonly url: string; readonly end: NodeJS.Timeout }>();

/** Lends a connection for one piece of work, without anything of earlier work in its session. */
export async function onServer<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = takeKept(url) ?? (await connect(url));
  let isWell = false;
  try {
    const result = await use(client);
    isWell = client.getTransactionStatus() === 'I' && (await isDiscarded(client));
    return result;
  } finally {
    if (isWell) keep(client, url);
    else await client.end();
  }
}

/** The rows of one statement. */
export async function rowsOf(
  url: string,
  text: string,
): Promise<Readonly<Record<string, unknown>>[]> {
  return await onServer(url, async (client) => {
    const { rows } = await client.query<Record<string, unknown>>(text);
    return rows;
  });
}

/** Releases locks and settings, and hides the test's statement from whoever watches the server. */
function isDiscarded(client: Client): Promise<boolean> {
  return client.query('DISCARD ALL').then(
    () => true,
    // The work may have ended the server or this connection: then there is nothing to keep.
    () => false,
  );
}

/** A connection for as long as a test needs it; the caller ends it. */
export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // The next statement fails; an idle one breaks only if its database or server is gone.
  client.on('error', () => forget(client));
  await client.connect();
  return client;
}

function takeKept(url: string): Client | undefined {
  const client = [...kept].find(([, one]) => one.url === url)?.[0];
  if (client !== undefined) forget(client);
  return client;
}

function keep(client: Client, url: string): void {
  const end = setTimeout(() => {
    forget(client);
    void client.end();
  }, KEPT_MS);
  kept.set(client, { url, end });
}

function forget(client: Client): void {
  clearTimeout(kept.get(client)?.end);
  kept.delete(client);
}

/** Resolves when this many connections of the database wait for a lock of another one. */
export async function waitForLock(url: string, waiting = 1): Promise<void> {
  await onServer(url, async (watcher) => {
    for (;;) {
      const { rows } = await watcher.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database()
            AND wait_event_type = 'Lock'`,
      );
      if (rows.length >= waiting) return;
    }
  });
}

/**
 * Lets the database refuse new connections, and ends the existing ones.
 * @returns lets everybody in again
 */
export async function letNobodyIn(url: string): Promise<() => Promise<void>> {
  const name = new URL(url).pathname.slice(1);
  const allow = (isAllowed: boolean) =>
    onServer(databaseUrl(url, 'postgres'), async (client) => {
      await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${isAllowed}`);
      await client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND NOT $2::bool',
        [name, isAllowed],
      );
    });
  await allow(false);
  return () => allow(true);
}
