import { withBriefConnection } from '../server/connection.ts';
import { databaseIdentity } from '../server/database-identity.ts';

/**
 * The id of a database, for data outside of it that is valid only together with it.
 *
 * @returns the result of `databaseIdentity`
 * @throws Error of `pg` when the database cannot be reached
 */
export async function databaseId(databaseUrl: string): Promise<string> {
  return await withBriefConnection(databaseUrl, 'start', databaseIdentity);
}
