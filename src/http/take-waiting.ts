import type { Server } from 'node:net';
import { wholeTurn } from '../lib/whole-turn.ts';
import { waitingAt } from './waiting-connections.ts';

/** Extra turns for connections that arrive meanwhile; without any, they take hardly any time. */
const FURTHER_TURNS = 32;
const FURTHER_FACTOR = 4;

/**
 * Resolves when the waiting connections have been accepted, of which the event loop accepts one per turn; or after
 * `limitMs`. The system is asked only once how many wait: on a machine with many sockets the answer takes
 * milliseconds, in which as many arrive again. The caller has to close the server at once.
 */
export async function takeWaiting(server: Server | undefined, limitMs: number): Promise<void> {
  const endsAtMs = performance.now() + limitMs;
  let left = FURTHER_FACTOR * (waitingAt(server) ?? 0) + FURTHER_TURNS;
  do {
    await wholeTurn();
    left -= 1;
  } while (left > 0 && performance.now() < endsAtMs);
}
