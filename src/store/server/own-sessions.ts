import type { Client } from 'pg';

/** The sessions of PostgreSQL that this process has open, by their number there. */
const open = new Set<number>();

/** Call it for each new connection. */
export function noteOwnSession(client: Client & { readonly processID?: number | null }): void {
  const { processID: pid } = client;
  if (pid == null) return;
  open.add(pid);
  client.once('end', () => open.delete(pid));
}

/** Their numbers (`pg_backend_pid()`); behind a pooler, those that it makes up. */
export function ownSessions(): readonly number[] {
  return [...open];
}
