import { createHash } from 'node:crypto';
import { DatabaseError } from 'pg';
import { readHistoryId } from '../schema/migration-history.ts';
import { type Connection, clientRows } from '../sql/client-rows.ts';
import { UnsuitableServer } from './unsuitable-server.ts';

/** Enough that two databases never have the same id. */
const ID_CHARACTERS = 16;
/** SQLSTATE */
const INSUFFICIENT_PRIVILEGE = '42501';

/** What tells databases apart. */
export interface Facts {
  /** The id of the first migration. */
  readonly history: string | undefined;
  /** Undefined if the role may not ask which server this is. */
  readonly server: string | undefined;
  readonly oid: string | undefined;
}

/**
 * The identity of the database that a connection leads to. Another database has another identity, even if it is a
 * restored dump, a copy within one server, or the same database moved to another server. A standby has the same
 * identity, and so has any other copy of the server's files.
 *
 * @returns 16 hexadecimal characters
 * @throws Error of `pg`
 */
export async function databaseIdentity(client: Connection): Promise<string> {
  return digestOf(await factsOf(client));
}

/**
 * Checks that a connection leads to the database on which this process started. If the address leads elsewhere
 * while the process runs, what it knows does not apply there: bets would be written where nobody looks for them, or
 * to a restored journal that the books do not read (docs/decisions/0033).
 *
 * @param databaseId the id found at the start (`databaseId`)
 * @throws UnsuitableServer with what to do about it
 * @throws Error of `pg`
 */
export async function refuseOtherDatabase(client: Connection, databaseId: string): Promise<void> {
  // The role's privileges may have changed since the start; no connection is refused because of that.
  const facts = await factsOf(client).catch((error: unknown) => {
    if (error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE) return undefined;
    throw error;
  });
  if (facts?.server === undefined || isOf(facts, databaseId)) return;
  if (facts.history === undefined) {
    throw new UnsuitableServer(
      'shows no journal where search_path leads, and this process started on one: either search_path was changed (of ' +
        'the role or the database), or the right to use its schema was taken, or the address leads to an empty ' +
        'database. Put that right, and migrate nothing: an empty journal would be made',
    );
  }
  throw new UnsuitableServer(
    'is another database than the one that this process started on, such as a restored dump, a copy, or that of ' +
      'another installation, and was left alone. If the address is wrong, correct it; if it is right, restart all ' +
      'gateways: a start looks whether they can go on with it',
  );
}

/** Whether these are the facts of the database with this id; at the start, the role may not have been told the server. */
export function isOf(facts: Facts, databaseId: string): boolean {
  return [facts, { ...facts, server: undefined }].some((one) => digestOf(one) === databaseId);
}

async function factsOf(client: Connection): Promise<Facts> {
  const [here] = await clientRows(
    client,
    `SELECT oid::text AS oid, has_function_privilege('pg_control_system()', 'EXECUTE') AS tells
       FROM pg_database WHERE datname = current_database()`,
    [],
    (row) => ({ oid: row.text('oid'), tells: row.bool('tells') }),
  );
  // Every role may ask, unless that privilege was revoked: then the other facts must do.
  const [server] =
    here?.tells === true
      ? await clientRows(
          client,
          'SELECT system_identifier::text AS id FROM pg_control_system()',
          [],
          (row) => row.text('id'),
        )
      : [];
  return { history: await readHistoryId(client), server, oid: here?.oid };
}

/** Names in Redis contain the id: changing it would orphan the entries there. */
function digestOf({ history, server, oid }: Facts): string {
  const facts = JSON.stringify([history, server, oid]);
  return createHash('sha256').update(facts).digest('hex').slice(0, ID_CHARACTERS);
}
