import { pendingMigrations } from '../../src/store/schema/migrate.ts';
import { onServer } from './server.ts';

/** What `migrate` would have to apply. */
export async function pendingThere(databaseUrl: string, folder?: string): Promise<string[]> {
  return await onServer(databaseUrl, (client) => pendingMigrations(client, folder));
}
