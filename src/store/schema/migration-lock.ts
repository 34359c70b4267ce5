import type { Client } from 'pg';
import { lockHolder } from '../server/lock-holder.ts';
import { clientRows } from '../sql/client-rows.ts';

/** Prisma's own key: a concurrent `prisma migrate deploy` waits for us, or we for it. */
const LOCK_KEY = 72_707_369;

/** Waits as long as it takes; the lock ends with the session. */
export async function lockMigrations(client: Client, log: (line: string) => void): Promise<void> {
  const [locked] = await clientRows(
    client,
    'SELECT pg_try_advisory_lock($1) AS locked',
    [LOCK_KEY],
    (row) => row.bool('locked'),
  );
  if (locked === true) return;
  log('another process is applying migrations: waiting for it');
  const holder = await lockHolder(client, LOCK_KEY);
  // A process that is stopped keeps the lock for as long as its machine answers for it.
  if (holder !== undefined) {
    const { pid, who } = holder;
    log(
      `it has PostgreSQL's session ${pid} (${who}); if it has been stopped, end it, ` +
        `or SELECT pg_terminate_backend(${pid}): the migrations are then applied here`,
    );
  }
  // A limit of the role or the database is meant for the scripts, which must not block callbacks for long.
  await client.query('SET lock_timeout = 0');
  await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
  await client.query('RESET lock_timeout');
}
