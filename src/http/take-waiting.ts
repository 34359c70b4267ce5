import type { Server } from 'node:net';
import { wholeTurn } from '../lib/whole-turn.ts';
import { waitingAt } from './waiting-connections.ts';

/** Turns for those that come meanwhile: where none does, they take no time worth the name. */
const FURTHER_TURNS = 32;
const FURTHER_FACTOR = 4;

/**
 * Resolves when the connections have been accepted that wait for that, of which the event loop takes one a turn; or
 * after `limitMs`. How many wait is asked once: where a machine has many sockets, the answer takes milliseconds, in which
 * as many come again. Whoever closes the server has to do so at once.
 */
export async function takeWaiting(server: Server | undefined, limitMs: number): Promise<void> {
  const endsAtMs = performance.now() + limitMs;
  let left = FURTHER_FACTOR * (waitingAt(server) ?? 0) + FURTHER_TURNS;
  do {
    await wholeTurn();
    left -= 1;
  } while (left > 0 && performance.now() < endsAtMs);
}
