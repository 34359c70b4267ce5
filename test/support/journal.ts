import { randomUUID } from 'node:crypto';
import type { BetOwner } from '../../src/domain/bet.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { Deadline } from '../../src/domain/deadline.ts';
import { Database } from '../../src/store/database.ts';
import { DatabaseClock } from '../../src/store/server/database-clock.ts';
import { Players } from '../../src/store/sessions/players.ts';
import { SessionStore } from '../../src/store/sessions/session-store.ts';
import { createDatabase } from './database.ts';
import { onServer } from './server.ts';

/** A bet as its rows are, read directly from the database. */
export interface BetState {
  readonly place: string;
  readonly rollback: string;
  readonly settlement: string;
  /** The operation in flight. */
  readonly busy: string | null;
  readonly amount: string | null;
  /** The service's operations, in order. */
  readonly operations: readonly string[];
  /** The results of attempts at the wallet, in order. */
  readonly attempts: readonly string[];
}

/** @returns undefined if the journal has no such bet */
export async function betState(
  databaseUrl: string,
  transactionId: string,
): Promise<BetState | undefined> {
  return await onServer(databaseUrl, async (client) => {
    const { rows } = await client.query<BetState>(
      `SELECT b.place, b.rollback, b.settlement, b.busy_operation AS busy, b.amount,
              ARRAY(SELECT o.operation FROM operations o
                     WHERE o.transaction_id = b.transaction_id ORDER BY o.id) AS operations,
              ARRAY(SELECT a.result FROM operations o JOIN attempts a ON a.operation_id = o.id
                     WHERE o.transaction_id = b.transaction_id
                     ORDER BY o.id, a.number) AS attempts
         FROM bets b WHERE b.transaction_id = $1`,
      [transactionId],
    );
    return rows[0];
  });
}

/** A test's own journal: a database with one player and one live session. */
export interface TestJournal {
  readonly url: string;
  readonly database: Database;
  readonly clock: DatabaseClock;
  readonly owner: BetOwner;
  readonly sessionId: string;
  readonly tokenHash: Buffer;
  /** Another live session of the same player. */
  openSession(): Promise<{ readonly sessionId: string; readonly tokenHash: Buffer }>;
  /** One SQL statement, directly on the database. */
  sql(text: string, values?: readonly unknown[]): Promise<void>;
  state(transactionId: string): Promise<BetState | undefined>;
  close(): Promise<void>;
}

/** @param openDatabase replaces the database by one that misbehaves */
export async function openTestJournal(
  openDatabase: (url: string) => Database = openPlainDatabase,
): Promise<TestJournal> {
  const { url, drop } = await createDatabase();
  const database = openDatabase(url);
  const owner = await new Players(database).ensure('alpha', 'ann');
  const openSession = async () => {
    const unique = Buffer.from(randomUUID());
    const session = await new SessionStore(database).insert({
      player: owner,
      operatorId: owner.operatorId,
      currency: 'USD',
      tokenHash: unique,
      token: undefined,
      operatorToken: Buffer.from('operator-token'),
      operatorTokenHash: unique,
      ordinal: 1,
      isIssued: true,
      ttlSeconds: 3_600,
    });
    if (session === undefined) throw new Error('no session');
    return { sessionId: session.id, tokenHash: unique };
  };
  return {
    url,
    database,
    clock: new DatabaseClock(database, systemClock),
    owner,
    ...(await openSession()),
    openSession,
    sql: async (text, values = []) => {
      await onServer(url, (client) => client.query(text, [...values]));
    },
    state: (transactionId) => betState(url, transactionId),
    close: async () => {
      await database.close();
      await drop();
    },
  };
}

/** A deadline with far more time than any test needs. */
export function ampleDeadline(): Deadline {
  return new Deadline(systemClock, systemClock.monotonicMs(), 60_000, 300);
}

export function openPlainDatabase(url: string): Database {
  return new Database({ url, connectionsMax: 8, onIdleError: () => undefined });
}
