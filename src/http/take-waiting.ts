import type { Server } from 'node:net';
import { wholeTurn } from '../lib/whole-turn.ts';
import { waitingAt } from './waiting-connections.ts';

/**
 * Resolves when the connections have been accepted that wait for that at this moment, of which the event loop takes
 * one a turn; or after `limitMs`. Where the system does not say how many wait, one turn is all.
 */
export async function takeWaiting(server: Server | undefined, limitMs: number): Promise<void> {
  const endsAtMs = performance.now() + limitMs;
  let left = waitingAt(server) ?? 0;
  do {
    await wholeTurn();
    left -= 1;
  } while (left > 0 && performance.now() < endsAtMs);
}
