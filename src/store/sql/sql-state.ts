import { DatabaseError } from 'pg';

/** Could not be serialized, or was chosen to end a deadlock: rolled back in favour of another transaction. */
const UNDONE: ReadonlySet<string> = new Set(['40001', '40P01']);

/** `read_only_sql_transaction`: the server is a standby, or set to read only. */
export const READ_ONLY = '25006';

/** SQLSTATE classes that are about the server's state rather than the statement. */
const SERVER_CLASSES = new Set(['08', '25', '28', '3D', '53', '57', '58']);

/** Close to the end of its transaction ids, a server answers but writes nothing until a vacuum. */
const NO_TRANSACTION_IDS = '54000';

/** Whether a transaction was rolled back in favour of another one, so that repeating it may succeed. */
export function isUndone(sqlState: string): boolean {
  return UNDONE.has(sqlState);
}

/** Whether an SQLSTATE blames the server's state, or another transaction, and not the statement. */
export function speaksOfServer(sqlState: string): boolean {
  const isOfServer = SERVER_CLASSES.has(sqlState.slice(0, 2)) || sqlState === NO_TRANSACTION_IDS;
  return isOfServer || UNDONE.has(sqlState);
}

/** Whether an error may be about one row's values. A missing column or permission concerns all rows. */
export function isOfOneRow(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^2[23]/.test(error.code ?? '');
}
