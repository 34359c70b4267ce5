import { PrismaPg } from '@prisma/adapter-pg';

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;

/** The schema in which our own statements, which name none, find the journal; no row if there is no journal. */
const SCHEMA = `
  SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = to_regclass('bets')`;

/**
 * Prisma names the schema of each table, by default `public`. The journal may be in another one (`search_path` of
 * the address, the role or the database), which only a connection can tell.
 */
export class PrismaOnOurTables extends PrismaPg {
  /** @throws Error of the driver when the database cannot be reached; the next query asks again */
  override async connect(): Promise<Adapter> {
    const adapter = await super.connect();
    try {
      const schemaName = await schemaOf(adapter);
      adapter.getConnectionInfo = () => ({
        supportsRelationJoins: true,
        ...(schemaName === undefined ? {} : { schemaName }),
      });
      return adapter;
    } catch (error) {
      await adapter.dispose();
      throw error;
    }
  }
}

async function schemaOf(adapter: Adapter): Promise<string | undefined> {
  const { rows } = await adapter.queryRaw({ sql: SCHEMA, args: [], argTypes: [] });
  const schema: unknown = rows[0]?.[0];
  return typeof schema === 'string' ? schema : undefined;
}
