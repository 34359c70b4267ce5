import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;

/** The schema in which our own statements, which name none, find the journal; no row if there is no journal. */
const SCHEMA = `
  SELECT n.nspname::text AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = to_regclass('bets')`;

/** Prisma names each table's schema, by default `public`; only a connection can tell the journal's. */
export class PrismaOnOurTables extends PrismaPg {
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
