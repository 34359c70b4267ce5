import type { Database } from '../database.ts';
import { statement } from '../sql/statement.ts';

/** Longer than an idle connection lasts, so that each time a new one is opened. */
const EVERY_MS = 10_000;
/** How long an idle connection of the pool that is used for this lasts. */
export const FOLLOWING_IDLE_MS = 5_000;

const IS_THERE = statement('server-is-there', {}, 'SELECT', () => undefined);

/**
 * Opens a new connection regularly, to find where the address leads: a process whose old connections still
 * answer may never need a new one otherwise (`ServerRuns`).
 *
 * @param database its idle connections must last no longer than `FOLLOWING_IDLE_MS`
 * @returns a function that stops it
 */
export function followAddress(database: Pick<Database, 'run'>): () => void {
  const timer = setInterval(() => {
    // Callers that need PostgreSQL notice by themselves when it is away.
    database.run(IS_THERE, {}).catch(() => undefined);
  }, EVERY_MS).unref();
  return () => clearInterval(timer);
}
