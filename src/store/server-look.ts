import type { Database } from './database.ts';
import { statement } from './statement.ts';

/** Longer than the connection of the look before stays. */
const LOOK_EVERY_MS = 10_000;
/** For the pool that is looked with. */
export const LOOK_IDLE_MS = 5_000;

const THERE = statement('server-is-there', {}, 'SELECT', () => undefined);

/**
 * Sees with a new connection where the address leads, every so often: a process whose old connections still answer may
 * need no new one for as long as it runs (`ServerRuns`).
 *
 * @param database whose idle connections last no longer than `LOOK_IDLE_MS`
 * @returns to be called to look no more
 */
export function keepLooking(database: Pick<Database, 'run'>): () => void {
  const timer = setInterval(() => {
    // Whoever needs PostgreSQL finds out by itself that it is away.
    database.run(THERE, {}).catch(() => undefined);
  }, LOOK_EVERY_MS).unref();
  return () => clearInterval(timer);
}
