import type { Database } from './database.ts';
import { statement } from './statement.ts';

/** Longer than the connection of the time before stays, so that each time a new one is opened. */
const EVERY_MS = 10_000;
/** How long an idle connection of the pool stays that is used for this. */
export const FOLLOWING_IDLE_MS = 5_000;

const IS_THERE = statement('server-is-there', {}, 'SELECT', () => undefined);

/**
 * Opens a new connection every so often, to see where the address leads: a process whose old connections still
 * answer may need no new one for as long as it runs (`ServerRuns`).
 *
 * @param database whose idle connections last no longer than `FOLLOWING_IDLE_MS`
 * @returns to be called to stop
 */
export function followAddress(database: Pick<Database, 'run'>): () => void {
  const timer = setInterval(() => {
    // Whoever needs PostgreSQL finds out by itself that it is away.
    database.run(IS_THERE, {}).catch(() => undefined);
  }, EVERY_MS).unref();
  return () => clearInterval(timer);
}
