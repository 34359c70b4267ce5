import { PrismaPg } from '@prisma/adapter-pg';

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>;

/** Where our own statements, which name no schema, find the journal; null on a database that has none. */
const SCHEMA = `
  SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
   WHERE c.oid = to_regclass('bets')`;

/**
 * Prisma names the schema of each table, and takes `public` for it unless it is told. The journal may stand in another one
 * (`search_path` of the address, the role or the database): only a connection knows.
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
