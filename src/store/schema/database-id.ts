import { openLongConnection } from '../connection.ts';
import { databaseIdentity } from '../database-identity.ts';

/**
 * Which database this is, for what stands outside of it and counts only together with it.
 *
 * @returns what `databaseIdentity` gives
 * @throws Error of `pg` when the database cannot be reached
 */
export async function databaseId(databaseUrl: string): Promise<string> {
  const client = await openLongConnection({ url: databaseUrl }, 'start');
  try {
    return await databaseIdentity(client);
  } finally {
    await client.end();
  }
}
