import { setImmediate as nextTurn } from 'node:timers/promises';

/** Resolves after a whole turn of the event loop: everything the system had ready at the call has been read. */
export async function wholeTurn(): Promise<void> {
  // The first only ends the current turn, which may have polled before the call.
  await nextTurn();
  await nextTurn();
}
