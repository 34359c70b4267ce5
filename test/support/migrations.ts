import { MIGRATIONS_FOLDER } from '../../src/store/schema/migration-scripts.ts';
import { statusOf, withMigrationClient } from '../../src/store/schema/migration-status.ts';

/** What `migrate` would have to do. */
export function migrationStatus(databaseUrl: string, folder = MIGRATIONS_FOLDER) {
  return withMigrationClient(databaseUrl, (client) => statusOf(client, folder));
}
