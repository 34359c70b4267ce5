import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import { Pool } from 'pg';

export type { MigrationList, SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';

/**
 * Prisma's own schema engine, in this process: neither the Prisma CLI nor a download is needed.
 *
 * @param use gets the engine, connected; it is gone when `use` settles
 * @throws Error of the engine, with a stack of its own in the message (see `wordsOf`)
 */
export async function withSchemaEngine<T>(
  databaseUrl: string,
  use: (engine: bindings.SchemaEngine) => Promise<T>,
): Promise<T> {
  await loadWasm();
  // One connection: the engine's own lock and its work belong to the same session.
  const pool = new Pool({ connectionString: databaseUrl, max: 1, connectionTimeoutMillis: 10_000 });
  // An idle connection that breaks shows in the next query.
  pool.on('error', () => undefined);
  try {
    const factory = bindMigrationAwareSqlAdapterFactory(new WholeScriptPg(pool));
    const engine = await bindings.SchemaEngine.new({ datamodels: undefined }, ignoreLog, factory);
    try {
      return await use(engine);
    } finally {
      engine.free();
    }
  } finally {
    await pool.end();
  }
}

/** What the engine has to say about a failure, without its stack of Rust frames. */
export function wordsOf(error: unknown): string {
  const lines = (error instanceof Error ? error.message : String(error)).split('\n');
  const frames = lines.findIndex((line) => /^\s*\d+: /.test(line));
  return lines
    .slice(0, frames === -1 ? undefined : frames)
    .filter((line) => line !== 'external connector error')
    .join(' ')
    .trim();
}

/**
 * The adapter cuts a script at every semicolon, those in comments, texts and function bodies too,
 * and commits piece by piece. Sent whole it is one transaction of PostgreSQL's: all of a migration
 * or nothing. The same transaction marks the migration as finished, so that a process killed in
 * between leaves no doubt about what an unfinished one has done: nothing.
 */
class WholeScriptPg extends PrismaPg {
  override async connect(): ReturnType<PrismaPg['connect']> {
    const adapter = await super.connect();
    adapter.executeScript = (script) => executeWhole(adapter, `${script}\n;${MARK_FINISHED}`);
    return adapter;
  }
}

const MARK_FINISHED = `
UPDATE "_prisma_migrations" SET "finished_at" = now()
WHERE "finished_at" IS NULL AND "rolled_back_at" IS NULL`;

async function executeWhole(adapter: SqlDriverAdapter, sql: string): Promise<void> {
  // Without arguments pg sends a query by the simple protocol, which takes many statements.
  await adapter.executeRaw({ sql, args: [], argTypes: [] });
}

/** The engine logs whole scripts; what matters is told by its answers. */
function ignoreLog(): void {
  return;
}

let loading: Promise<void> | undefined;

/** Once a process: the bindings know one instance, and a second one would pull it from the first. */
function loadWasm(): Promise<void> {
  loading ??= instantiate();
  return loading;
}

async function instantiate(): Promise<void> {
  // The package does not export the file itself, and Node cannot import it without a flag.
  const entry = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm');
  const bytes = await readFile(join(dirname(entry), 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': bindings });
  bindings.__wbg_set_wasm(instance.exports);
  const start = instance.exports.__wbindgen_start;
  if (typeof start !== 'function') throw new Error('the schema engine has no start function');
  start();
}
