import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withRedis } from '../support/scheduler-scene.ts';
import { workerOf } from '../support/worker-scene.ts';

const SWEEP_MS = 1_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout', 'setImmediate'] });
});
afterEach(() => {
  vi.useRealTimers();
  withRedis();
});

it.each([1, 2])(
  'due bets are decided beside the sweep, forgotten places too, where that takes more than %i s (I7)',
  async (seconds) => {
    const { worker, duties, due } = workerOf();
    due.mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, SWEEP_MS * seconds + 1));
      return [];
    });
    worker.start();
    await vi.advanceTimersByTimeAsync(SWEEP_MS * 12 + 10);
    expect(duties.filter((duty) => duty === 'arm')).toHaveLength(13);
    expect(due.mock.calls.length).toBeLessThan(8);
    expect(duties.filter((duty) => duty === 'originate').length).toBeGreaterThan(3);
    await vi.advanceTimersByTimeAsync(SWEEP_MS * 3);
    const closed = worker.close();
    await vi.advanceTimersByTimeAsync(SWEEP_MS * 3);
    await closed;
  },
);

it('a worker that closes in the middle of a sweep waits for what that sweep begins', async () => {
  const { worker, recoverLapsed, due } = workerOf();
  const recovered = Promise.withResolvers<never[]>();
  const decided = Promise.withResolvers<never[]>();
  recoverLapsed.mockImplementationOnce(() => recovered.promise);
  due.mockImplementationOnce(() => decided.promise);
  worker.start();
  await vi.advanceTimersByTimeAsync(1);
  let isClosed = false;
  const closing = worker.close().then(() => {
    isClosed = true;
  });
  recovered.resolve([]);
  await vi.advanceTimersByTimeAsync(SWEEP_MS);
  expect([due.mock.calls.length, isClosed]).toEqual([1, false]);
  decided.resolve([]);
  await vi.advanceTimersByTimeAsync(SWEEP_MS);
  await closing;
});
