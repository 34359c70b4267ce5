import { setImmediate as nextTurn } from 'node:timers/promises';

/** How many turns of the event loop others had while this work was done; one if it was done in one go. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const others = (async () => {
    for (; !isDone; turns++) await nextTurn();
  })();
  await work();
  isDone = true;
  await others;
  return turns;
}
