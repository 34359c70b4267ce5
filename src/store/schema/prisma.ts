import { GatewayError } from '../../domain/errors.ts';
import { connectionTo, SHORT_SETTINGS } from '../connection.ts';
import { connectionChecks, type KnownDatabase } from '../on-connect.ts';
import { PrismaClient, Prisma as PrismaTypes } from '../prisma-client/client.ts';
import { speaksOfServer } from '../sql-state.ts';
import { PrismaOnOurTables } from './prisma-tables.ts';

export type Prisma = ReturnType<typeof createPrisma>;

/** A piece of a raw statement with its values. */
export const sql = PrismaTypes.sql;
/** Text of our own for such a statement, never a value. */
export const raw = PrismaTypes.raw;
export type Sql = PrismaTypes.Sql;

export type Transaction = Parameters<Parameters<Prisma['$transaction']>[0]>[0];

/** `read_only_sql_transaction` */
const READ_ONLY = '25006';

/**
 * The cold paths' way to PostgreSQL, on a few connections of its own. As with `Database`, every
 * failure of a query is a `GatewayError` `DATABASE_UNAVAILABLE` or a bug.
 * @param known of a process that goes on for long; see `connectionChecks`
 */
export function createPrisma(url: string, known?: KnownDatabase) {
  const client = new PrismaClient({
    adapter: new PrismaOnOurTables({
      ...connectionTo(url, 'wagergate-cold', SHORT_SETTINGS),
      max: 2,
      connectionTimeoutMillis: 4_000,
      // Nobody asks these whether their server was left (`ServerRuns`): no old primary is asked for longer.
      maxLifetimeSeconds: 10,
      statement_timeout: 10_000,
      query_timeout: 11_000,
      ...connectionChecks(known),
    }),
  });
  return client.$extends({
    query: {
      async $allOperations({ args, query }) {
        try {
          return await query(args);
        } catch (error) {
          if (!isUnavailable(error)) throw error;
          throw new GatewayError('DATABASE_UNAVAILABLE', whatFailed(error), { cause: error });
        }
      },
    },
  });
}

/**
 * Does some work in one transaction: all of it or nothing.
 * @param timeoutMs how long it may take; default: Prisma's own 5 s
 * @throws GatewayError `DATABASE_UNAVAILABLE` also when it could not begin or end; whatever `work` throws
 */
export async function inTransaction<T>(
  prisma: Prisma,
  work: (transaction: Transaction) => Promise<T>,
  timeoutMs = 5_000,
): Promise<T> {
  let hasFailed = false;
  const watched = async (transaction: Transaction) => {
    try {
      return await work(transaction);
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  try {
    return await prisma.$transaction(watched, { timeout: timeoutMs });
  } catch (error) {
    if (hasFailed) throw error;
    // Its beginning and its end are no queries, of which the client above tells.
    throw new GatewayError('DATABASE_UNAVAILABLE', whatFailed(error), { cause: error });
  }
}

/** In the words of a person who waits for it: a standby answers, and takes nothing. */
function whatFailed(error: unknown): string {
  const isKnown = error instanceof PrismaTypes.PrismaClientKnownRequestError;
  return isKnown && sqlStateOf(error.meta?.driverAdapterError) === READ_ONLY
    ? 'PostgreSQL takes no writes: it is a standby, or read-only'
    : 'PostgreSQL did not answer';
}

/** Somebody else has written the same row meanwhile; the transaction is undone. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof PrismaTypes.PrismaClientKnownRequestError && error.code === 'P2002';
}

const PRISMAS_CODE = /^P\d{4}$/;

function isUnavailable(error: unknown): boolean {
  if (error instanceof PrismaTypes.PrismaClientValidationError) return false;
  // Prisma passes on what it does not know, such as a query that took too long.
  if (!(error instanceof PrismaTypes.PrismaClientKnownRequestError)) return true;
  const sqlState = sqlStateOf(error.meta?.driverAdapterError);
  if (sqlState !== undefined) return speaksOfServer(sqlState);
  // The system's word about the connection (`EPIPE`), for which Prisma has none of its own.
  if (!PRISMAS_CODE.test(error.code)) return true;
  // P1...: no server; P2010: a raw query without PostgreSQL's word; P2024: no connection free; P2028: out of time.
  return error.code.startsWith('P1') || ['P2010', 'P2024', 'P2028'].includes(error.code);
}

/** PostgreSQL's own word about a statement, where it said one. */
function sqlStateOf(error: unknown): string | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (typeof cause !== 'object' || cause === null || !('originalCode' in cause)) return undefined;
  return typeof cause.originalCode === 'string' ? cause.originalCode : undefined;
}
