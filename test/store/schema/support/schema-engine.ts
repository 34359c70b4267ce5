import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import { Pool } from 'pg';

/**
 * Prisma's own schema engine, as the Prisma CLI uses it, in this process and without a download: the reference for
 * the gateway's migrations. The gateway itself does not need it.
 */

const NO_FILTERS = { externalTables: [], externalEnums: [] };

/** The SQL with which Prisma would create a schema from nothing. The database is not changed. */
export async function sqlOfSchema(databaseUrl: string, schema: string): Promise<string> {
  const { stdout } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.diff({
      from: { tag: 'empty' },
      to: { tag: 'schemaDatamodel', files: [{ path: 'schema.prisma', content: schema }] },
      script: true,
      exitCode: null,
      filters: NO_FILTERS,
    }),
  );
  return stdout ?? '';
}

/** `prisma migrate deploy`. @returns the names of the migrations that it applied */
export async function prismaDeploy(databaseUrl: string, folder: string): Promise<string[]> {
  const migrationsList = await migrationsIn(folder);
  const { appliedMigrationNames } = await withSchemaEngine(databaseUrl, (engine) =>
    engine.applyMigrations({ migrationsList, filters: NO_FILTERS }),
  );
  return appliedMigrationNames;
}

/** What `prisma migrate status` reports about a database. */
export async function prismaStatus(databaseUrl: string, folder: string) {
  const migrationsList = await migrationsIn(folder);
  return withSchemaEngine(databaseUrl, (engine) =>
    engine.diagnoseMigrationHistory({
      migrationsList,
      optInToShadowDatabase: false,
      filters: NO_FILTERS,
    }),
  );
}

async function withSchemaEngine<T>(
  databaseUrl: string,
  use: (engine: bindings.SchemaEngine) => Promise<T>,
): Promise<T> {
  await loadWasm();
  const pool = new Pool({ connectionString: databaseUrl, max: 1 });
  const factory = bindMigrationAwareSqlAdapterFactory(new PrismaPg(pool));
  // It logs whole scripts; its answers say everything that matters.
  const ignoreLog = () => undefined;
  const engine = await bindings.SchemaEngine.new({ datamodels: undefined }, ignoreLog, factory);
  try {
    return await use(engine);
  } finally {
    engine.free();
    // The engine's lock ends with its session.
    await pool.end();
  }
}

async function migrationsIn(folder: string): Promise<bindings.MigrationList> {
  const lockFile = 'migration_lock.toml';
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return {
    baseDir: folder,
    lockfile: { path: lockFile, content: await readFile(join(folder, lockFile), 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      names.sort().map(async (name) => {
        const value = await readFile(join(folder, name, 'migration.sql'), 'utf8');
        const path = 'migration.sql';
        return { path: name, migrationFile: { path, content: { tag: 'ok' as const, value } } };
      }),
    ),
  };
}

let loading: Promise<void> | undefined;

/** Once per process: the bindings have one instance, and a second one would break the first. */
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
