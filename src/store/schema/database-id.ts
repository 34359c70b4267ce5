import { openBriefConnection } from '../server/connection.ts';
import { databaseIdentity } from '../server/database-identity.ts';

/**
 * The id of a database, for data outside of it that is valid only together with it.
 *
 * @returns the result of `databaseIdentity`
 * @throws Error of `pg` when the database cannot be reached
 */
export async function databaseId(databaseUrl: string): Promise<string> {
  const client = await openBriefConnection(databaseUrl, 'start');
  try {
    return await databaseIdentity(client);
  } finally {
    await client.end();
  }
}
