import { Client } from 'pg';

/** @throws Error of `pg`, where the server cannot be reached or goes away meanwhile; this process goes on */
export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // A connection that breaks: the statement under way, or the next one, says so.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
