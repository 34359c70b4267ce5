import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
import { GatewayError } from '../../domain/errors.ts';
import { PrismaClient, Prisma as PrismaTypes } from '../prisma-client/client.ts';
import type { ConnectionPool } from '../server/connection-pool.ts';
import { READ_ONLY, speaksOfServer } from '../sql/sql-state.ts';
import { PoolForPrisma } from './pool-for-prisma.ts';

export type Prisma = ReturnType<typeof createPrisma>;

/** A fragment of a raw statement with its values. */
export const sql = PrismaTypes.sql;
/** Our own text in such a statement, never a value. */
export const raw = PrismaTypes.raw;
export type Sql = PrismaTypes.Sql;

export type Transaction = Parameters<Parameters<Prisma['$transaction']>[0]>[0];

/**
 * PostgreSQL for rarely used paths: a failed query is a GatewayError `DATABASE_UNAVAILABLE` or a bug.
 * @param pool shared with others; default: one of its own, which ends with the client
 */
export function createPrisma(url: string, pool?: ConnectionPool) {
  const client = new PrismaClient({ adapter: new PrismaOnOurTables(new PoolForPrisma(url, pool)) });
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
 * Does work in one transaction. @param timeoutMs default: Prisma's own 5 s
 * @throws GatewayError also when it could not begin or end; whatever `work` throws
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
    // Beginning and ending a transaction are no queries, so the client above does not convert their errors.
    throw new GatewayError('DATABASE_UNAVAILABLE', whatFailed(error), { cause: error });
  }
}

/** The failure for people: a standby answers, but accepts no writes. */
function whatFailed(error: unknown): string {
  const isKnown = error instanceof PrismaTypes.PrismaClientKnownRequestError;
  return isKnown && sqlStateOf(error.meta?.driverAdapterError) === READ_ONLY
    ? 'PostgreSQL takes no writes: it is a standby, or read-only'
    : 'PostgreSQL did not answer';
}

/** Another transaction has written the same row meanwhile; this one is rolled back. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof PrismaTypes.PrismaClientKnownRequestError && error.code === 'P2002';
}

const PRISMAS_CODE = /^P\d{4}$/;

function isUnavailable(error: unknown): boolean {
  if (error instanceof PrismaTypes.PrismaClientValidationError) return false;
  // Prisma passes on errors that it does not know, such as a query timeout.
  if (!(error instanceof PrismaTypes.PrismaClientKnownRequestError)) return true;
  const sqlState = sqlStateOf(error.meta?.driverAdapterError);
  if (sqlState !== undefined) return speaksOfServer(sqlState);
  // The system's code for the connection (`EPIPE`), for which Prisma has no code of its own.
  if (!PRISMAS_CODE.test(error.code)) return true;
  // P1...: no server; P2010: a raw query without a code from PostgreSQL; P2024: no free connection; P2028: timeout.
  return error.code.startsWith('P1') || ['P2010', 'P2024', 'P2028'].includes(error.code);
}

/** PostgreSQL's own code for a statement's error, if it gave one. */
function sqlStateOf(error: unknown): string | undefined {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (typeof cause !== 'object' || cause === null || !('originalCode' in cause)) return undefined;
  return typeof cause.originalCode === 'string' ? cause.originalCode : undefined;
}

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;

/** The schema in which our own statements, which name none, find the journal; no row if there is no journal. */
const SCHEMA = `
  SELECT n.nspname::text AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = to_regclass('bets')`;

/** Prisma names each table's schema, by default `public`; only a connection can tell the journal's. */
class PrismaOnOurTables extends PrismaPg {
  readonly #pool: Pool;

  /** @param pool ended when Prisma disconnects */
  constructor(pool: Pool) {
    super(pool, { disposeExternalPool: true });
    this.#pool = pool;
  }

  /** @throws Error of `pg` when the database cannot be reached; the next query asks again */
  override async connect(): Promise<Adapter> {
    const { rows } = await this.#pool.query<{ schema: string }>(SCHEMA);
    const schemaName = rows[0]?.schema;
    const adapter = await super.connect();
    adapter.getConnectionInfo = () => ({
      supportsRelationJoins: true,
      ...(schemaName === undefined ? {} : { schemaName }),
    });
    return adapter;
  }
}
