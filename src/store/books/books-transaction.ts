import type { Client } from 'pg';
import { clientRows } from '../client-rows.ts';
import { type DatabaseAddress, openLongConnection } from '../connection.ts';
import type { SqlValue } from '../sql-value.ts';
import { Columns, type TypedStatement } from '../statement.ts';
import type { Runner } from './books-journal.ts';

/** Of rebuilds, which replace what is booked, and of those who must not see that happen. */
const REBUILD_LOCK_KEY = 1_640_532_527;
const LOCK = 'UPDATE books_cursor SET version = version + 1';
/**
 * A worker that is stopped (a debugger, a frozen container) must not keep everybody's books: its server ends
 * what does nothing for so long, as it does on every short connection.
 */
const WHILE_WORKERS_GO_ON = `SET LOCAL idle_in_transaction_session_timeout = '10s'`;
const SETTINGS = 'SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL statement_timeout = 0';

/**
 * From the moment it has locked the books nobody books or closes, nobody sees half of it, and when it fails
 * all is as it was. Callbacks do not notice.
 */
export class BooksTransaction implements Runner {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Locks the books from the beginning.
   * @param isRebuild may replace what is closed, by the same
   * @throws what `work` throws, after everything was undone; Error of `pg`
   */
  static async run<T>(
    address: DatabaseAddress,
    isRebuild: boolean,
    work: (books: BooksTransaction) => Promise<T>,
  ): Promise<T> {
    const begin = isRebuild
      ? `SET LOCAL wagergate.books_rebuild = 'on'; SELECT pg_advisory_xact_lock(${REBUILD_LOCK_KEY})`
      : `SET LOCAL wagergate.books_rebuild = 'off'`;
    return await BooksTransaction.#within(address, `${SETTINGS}; ${begin}; ${LOCK}`, work);
  }

  /**
   * Whatever takes long is read before `work` locks the books: they go on meanwhile, but none is built
   * anew. Only what has locked them may write.
   * @throws what `work` throws, after everything was undone; Error of `pg`
   */
  static async prepared<T>(
    address: DatabaseAddress,
    work: (books: BooksTransaction) => Promise<T>,
  ): Promise<T> {
    const begin = `SELECT pg_advisory_xact_lock_shared(${REBUILD_LOCK_KEY})`;
    return await BooksTransaction.#within(
      address,
      `${SETTINGS}; ${WHILE_WORKERS_GO_ON}; SET LOCAL jit = off; ${begin}`,
      work,
    );
  }

  static async #within<T>(
    address: DatabaseAddress,
    begin: string,
    work: (books: BooksTransaction) => Promise<T>,
  ): Promise<T> {
    const client = await openLongConnection(address, 'books');
    try {
      await client.query(`BEGIN; ${begin}`);
      const result = await work(new BooksTransaction(client));
      await client.query('COMMIT');
      return result;
    } finally {
      // Without its COMMIT the server undoes everything.
      await client.end();
    }
  }

  /** Where it was only prepared. */
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
