import { Client } from 'pg';
import { clientRows } from '../client-rows.ts';
import type { SqlValue } from '../sql-value.ts';
import { Columns, type TypedStatement } from '../statement.ts';
import type { Runner } from './books-journal.ts';

const CONNECT_MS = 10_000;

/**
 * Holds the books: nobody books or closes meanwhile, nobody sees half of it, and when it fails all is
 * as it was. Callbacks do not notice.
 */
export class BooksTransaction implements Runner {
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /**
   * @param isRebuild may replace what is closed, by the same
   * @throws what `work` throws, after everything was undone; Error of `pg`
   */
  static async run<T>(
    url: string,
    isRebuild: boolean,
    work: (books: BooksTransaction) => Promise<T>,
  ): Promise<T> {
    const client = new Client({
      connectionString: url,
      application_name: 'wagergate-books',
      connectionTimeoutMillis: CONNECT_MS,
    });
    // A connection that breaks between two queries: the next one tells.
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query(`BEGIN; SET LOCAL wagergate.books_rebuild = '${isRebuild ? 'on' : 'off'}';
        SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL statement_timeout = 0;
        UPDATE books_cursor SET version = version + 1`);
      const result = await work(new BooksTransaction(client));
      await client.query('COMMIT');
      return result;
    } finally {
      // Without its COMMIT the server undoes everything.
      await client.end();
    }
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
