import type { Client } from 'pg';
import { plain } from '../../lib/plain-text.ts';
import { clientRows } from '../sql/client-rows.ts';

/** Who holds an advisory lock, to be told to a person. */
export interface LockHolder {
  /** PostgreSQL's process, for `pg_terminate_backend`. */
  readonly pid: number;
  /** User, program, address and what the session does, as far as this role may see them. */
  readonly who: string;
}

/** Of other users' sessions, a role may see neither the program nor its address. */
const HOLDER = `
  SELECT l.pid, concat_ws(', ', a.usename, nullif(a.application_name, ''), 'at ' || host(a.client_addr),
                          a.state || to_char(a.state_change, '" since "YYYY-MM-DD"T"HH24:MI:SS"Z"')) AS who
    FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
   WHERE l.locktype = 'advisory' AND l.granted AND l.classid = 0 AND l.objid = $1::bigint::oid AND l.objsubid = 1
     AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/**
 * The session that holds the advisory lock of a key in this database; undefined if it has just ended.
 * @param key of `pg_advisory_lock` with one argument, below 2^32
 * @throws Error of `pg`
 */
export async function lockHolder(client: Client, key: number): Promise<LockHolder | undefined> {
  const [holder] = await clientRows(client, HOLDER, [key], (row) => ({
    pid: row.int('pid'),
    who: plain(row.text('who')),
  }));
  return holder;
}
