import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { Slices } from '../../src/lib/slices.ts';

beforeEach(() => {
  // Work takes as long as a test says; turns of the event loop are real.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** How many turns others had meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let done = false;
  const others = (async () => {
    for (; !done; turns += 1) await nextTurn();
  })();
  await work();
  done = true;
  await others;
  return turns;
}

it('lets others have their turn behind each item that takes long by itself', async () => {
  const items = [1, 2, 3, 4, 5, 6, 7, 8];
  let doubled: number[] = [];
  const turns = await turnsDuring(async () => {
    doubled = await new Slices().map(items, (item) => {
      vi.advanceTimersByTime(20);
      return 2 * item;
    });
  });
  expect(turns).toBeGreaterThanOrEqual(items.length);
  expect(doubled).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
});

it('does not wait for a turn unnecessarily: a slice goes on for some milliseconds', async () => {
  const turns = await turnsDuring(() =>
    new Slices().map([1, 2, 3, 4, 5, 6, 7, 8], () => vi.advanceTimersByTime(1)),
  );
  expect(turns).toBeLessThan(8);
});

it('ends after some milliseconds, starts again with the next turn, and reads no clock at each small step', async () => {
  const slices = new Slices();
  const stepsUntilOver = () => {
    let steps = 1;
    while (!slices.isOver()) steps += 1;
    return steps;
  };
  vi.advanceTimersByTime(20);
  expect(stepsUntilOver()).toBe(64);
  await slices.next();
  for (let steps = 0; steps < 1_000; steps += 1) expect(slices.isOver()).toBe(false);
  vi.advanceTimersByTime(20);
  expect(stepsUntilOver()).toBeLessThanOrEqual(64);
});

it('lets one of many go on in each turn, so that all of them together take no more of it than one (I7)', async () => {
  const longestMs = { turn: 0 };
  const work = async (slices: Slices) => {
    for (let step = 0; step < 3; step += 1) {
      await slices.next();
      vi.advanceTimersByTime(20);
    }
  };
  let beganMs = performance.now();
  let isDone = false;
  const others = (async () => {
    for (; !isDone; beganMs = performance.now()) {
      await nextTurn();
      longestMs.turn = Math.max(longestMs.turn, performance.now() - beganMs);
    }
  })();
  await Promise.all(Array.from({ length: 50 }, () => work(new Slices())));
  isDone = true;
  await others;
  expect(longestMs.turn).toBe(20);
});
