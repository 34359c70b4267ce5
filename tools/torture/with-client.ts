import { Client } from 'pg';

/** @throws Error of `pg` if the server cannot be reached or goes away meanwhile; this process survives that */
export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // A broken connection is reported by the current statement or the next one.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}
