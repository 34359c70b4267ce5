import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves after a whole turn of the event loop: what the system had for this process when it was called has been taken. */
export async function wholeTurn(): Promise<void> {
  // The first ends the turn under way, which may have looked before.
  await nextTurn();
  await nextTurn();
}
