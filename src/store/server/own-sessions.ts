import type { ClientBase } from 'pg';

/** The sessions of PostgreSQL that this process has open, by their number there. */
const open = new Set<number>();
const pids = new WeakMap<ClientBase, number>();

/** Call it for each new connection. */
export function noteOwnSession(client: ClientBase, pid: number): void {
  open.add(pid);
  pids.set(client, pid);
  client.once('end', () => open.delete(pid));
}

/** Their numbers (`pg_backend_pid()`). */
export function ownSessions(): readonly number[] {
  return [...open];
}

/** The number of a connection's session; undefined if it was not noted. */
export function ownSessionOf(client: ClientBase): number | undefined {
  return pids.get(client);
}
