import { once } from 'node:events';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { GatewayError } from '../../domain/errors.ts';
import { errorMessage } from '../../lib/faults.ts';
import { openLongConnection } from '../server/connection.ts';
import { Columns } from '../sql/statement.ts';
import {
  COMPARE,
  type Compared,
  comparedOf,
  comparisonValues,
  type ListComparison,
  type ListRow,
} from './compare-statement.ts';

/** The table for the list; it ends with its connection. Texts are compared byte by byte, which is fastest. */
export const CREATE_LISTED = `
  CREATE TEMPORARY TABLE listed (
    line BIGINT NOT NULL, transaction_id TEXT COLLATE "C" NOT NULL, is_unreadable BOOLEAN NOT NULL,
    currency TEXT, stake TEXT, payout TEXT, state TEXT)`;

const PAGE_ROWS = 2_000;
/** Limit of one statement of a comparison: the join of ten million rows takes minutes, not hours. */
const STATEMENT_MS = 3_600_000;
/** How long a comparison may pause between two pages: if stopped, it blocks new and pruned months. */
const PAUSE_MS = 60_000;

/**
 * Another party's list in a temporary table on its own connection, gone with it. Rows are committed piece by
 * piece: the books read the journal no further than the oldest writing transaction.
 */
export class SideTable {
  readonly #client: Client;
  #failure: Error | undefined;

  private constructor(client: Client) {
    this.#client = client;
    // The next request fails with it.
    client.on('error', (error) => {
      this.#failure ??= error;
    });
  }

  /** @param pauseMs for tests @throws GatewayError `DATABASE_UNAVAILABLE` */
  static async open(databaseUrl: string, pauseMs = PAUSE_MS): Promise<SideTable> {
    let table: SideTable | undefined;
    try {
      const client = await openLongConnection(databaseUrl, 'reconciliation');
      table = new SideTable(client);
      // A query may run for long after its process has died: the server checks that the client is still there.
      await client.query(`
        SET statement_timeout = ${STATEMENT_MS};
        SET idle_in_transaction_session_timeout = ${pauseMs};
        SET client_connection_check_interval = '10s';
        SET work_mem = '64MB';
        SET cursor_tuple_fraction = 1;
        ${CREATE_LISTED}`);
      return table;
    } catch (error) {
      await table?.close();
      const why = errorMessage(error);
      throw new GatewayError('DATABASE_UNAVAILABLE', `PostgreSQL: ${why}`, { cause: error });
    }
  }

  /** @throws Error of `pg`: the table is then unusable */
  async add(rows: readonly ListRow[]): Promise<void> {
    this.#mustStand();
    if (rows.length === 0) return;
    const copy = this.#client.query(copyFrom('COPY listed FROM STDIN'));
    // `once` reports an error; a second one must not end the process.
    copy.on('error', () => undefined);
    copy.end(rows.map(copyLine).join(''));
    await once(copy, 'finish');
  }

  /**
   * All pairs in which the lists may differ, in the order of transactionIds. Read-only, so that the books can
   * proceed. @throws Error of `pg`
   */
  async *compared(comparison: ListComparison): AsyncGenerator<readonly Compared[]> {
    this.#mustStand();
    await this.#client.query('ANALYZE listed');
    await this.#client.query('BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await this.#client.query(`DECLARE compared NO SCROLL CURSOR FOR ${COMPARE}`, [
      ...comparisonValues(comparison),
    ]);
    for (;;) {
      this.#mustStand();
      const { rows } = await this.#client.query<Record<string, unknown>>(
        `FETCH ${PAGE_ROWS} FROM compared`,
      );
      if (rows.length === 0) break;
      yield rows.map((row) => comparedOf(new Columns(row)));
    }
    await this.#client.query('COMMIT');
  }

  /** @throws Error that broke the connection: `pg` itself would say only that it cannot be used any more */
  #mustStand(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Ends the connection, and the table with it; a running statement is aborted. */
  async close(): Promise<void> {
    await this.#client.end();
  }
}

function copyLine(row: ListRow): string {
  const { line, transactionId, isUnreadable, currency, stake, payout, state } = row;
  const cells = [currency, stake, payout, state].map(copyCell).join('\t');
  return `${line}\t${copyCell(transactionId)}\t${isUnreadable ? 't' : 'f'}\t${cells}\n`;
}

/** PostgreSQL's text form. */
function copyCell(text: string | null): string {
  if (text === null) return '\\N';
  if (!/[\\\t\n\r]/.test(text)) return text;
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
}
