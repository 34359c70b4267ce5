import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A migration could not be applied; the message names it. Nothing of it is in the database. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** The repository's migrations. */
export const MIGRATIONS_FOLDER = fileURLToPath(
  new URL('../../../prisma/migrations', import.meta.url),
);

export interface Script {
  readonly name: string;
  readonly sql: string;
}

/** The folders' names begin with the time of their creation, so that sorting gives their order. */
export async function migrationNames(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** @throws MigrationError if the folder has no script that can be read */
export async function readScript(folder: string, name: string): Promise<Script> {
  try {
    return { name, sql: await readFile(join(folder, name, 'migration.sql'), 'utf8') };
  } catch (cause) {
    throw new MigrationError(`migration ${name} has no migration.sql that can be read`, { cause });
  }
}
