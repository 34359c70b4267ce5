import type { ClientBase } from 'pg';

/** The sessions of PostgreSQL that this process has open, by their number there. */
const open = new Set<number>();

/** Call it for each new connection. */
export function noteOwnSession(client: ClientBase, pid: number): void {
  open.add(pid);
  client.once('end', () => open.delete(pid));
}

/** Their numbers (`pg_backend_pid()`). */
export function ownSessions(): readonly number[] {
  return [...open];
}
