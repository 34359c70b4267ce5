import type { Client } from 'pg';
import { openLongConnection, withConnection } from '../server/connection.ts';
import { clientRows } from '../sql/client-rows.ts';
import type { SqlValue } from '../sql/sql-value.ts';
import { Columns, type TypedStatement } from '../sql/statement.ts';
import type { Runner } from './books-journal.ts';

/** Advisory lock: exclusive for a rebuild, shared for those who must not run during one. */
const REBUILD_LOCK_KEY = 1_640_532_527;
const LOCK = 'UPDATE books_cursor SET version = version + 1';
/** A stopped worker must not keep the books locked: PostgreSQL ends its transaction after this. */
const WHILE_WORKERS_GO_ON = `SET LOCAL idle_in_transaction_session_timeout = '10s'`;
const SETTINGS = 'SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL statement_timeout = 0';

/** A transaction over the books. Once it has locked them nobody else books or closes; a failure undoes all. */
export class BooksTransaction implements Runner {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Locks the books from the start. @throws what `work` throws, after the rollback; Error of `pg`
   * @param isRebuild allows rows of closed days to be replaced, as long as they come out identical
   */
  static async run<T>(
    databaseUrl: string,
    isRebuild: boolean,
    work: (books: BooksTransaction) => Promise<T>,
  ): Promise<T> {
    const begin = isRebuild
      ? `SET LOCAL wagergate.books_rebuild = 'on'; SELECT pg_advisory_xact_lock(${REBUILD_LOCK_KEY})`
      : `SET LOCAL wagergate.books_rebuild = 'off'`;
    return await BooksTransaction.#within(databaseUrl, `${SETTINGS}; ${begin}; ${LOCK}`, work);
  }

  /**
   * Leaves the books unlocked for a long reading; only a rebuild waits. `work` calls `lock()` before it writes.
   * @throws what `work` throws, after the rollback; Error of `pg`
   */
  static async prepared<T>(
    databaseUrl: string,
    work: (books: BooksTransaction) => Promise<T>,
  ): Promise<T> {
    const begin = `SELECT pg_advisory_xact_lock_shared(${REBUILD_LOCK_KEY})`;
    return await BooksTransaction.#within(
      databaseUrl,
      `${SETTINGS}; ${WHILE_WORKERS_GO_ON}; SET LOCAL jit = off; ${begin}`,
      work,
    );
  }

  static async #within<T>(
    databaseUrl: string,
    begin: string,
    work: (books: BooksTransaction) => Promise<T>,
  ): Promise<T> {
    // If there is no COMMIT, the server rolls back.
    return await withConnection(openLongConnection(databaseUrl, 'books'), async (client) => {
      await client.query(`BEGIN; ${begin}`);
      const result = await work(new BooksTransaction(client));
      await client.query('COMMIT');
      return result;
    });
  }

  /** Locks the books, in a transaction begun with `prepared`. */
  async lock(): Promise<void> {
    await this.execute(LOCK);
  }

  async run<Input, Row>(statement: TypedStatement<Input, Row>, input: Input): Promise<Row[]> {
    const { name, text } = statement;
    const values = [...statement.values(input)];
    const { rows } = await this.#client.query<Record<string, unknown>>({ name, text, values });
    return rows.map((row) => statement.decode(new Columns(row)));
  }

  async rows<Row>(
    text: string,
    values: readonly SqlValue[],
    decode: (columns: Columns) => Row,
  ): Promise<Row[]> {
    return await clientRows(this.#client, text, values, decode);
  }

  async execute(text: string, values: readonly SqlValue[] = []): Promise<void> {
    await this.#client.query(text, [...values]);
  }
}
