import { expect, it, onTestFinished, vi } from 'vitest';
import { dutyLoop, pausesOf } from '../../src/books/duty.ts';

it('work that fails again and again is tried, and logged, less and less often; once it succeeds, as before', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const runsAtMs: number[] = [];
  let isBroken = true;
  const startedAtMs = Date.now();
  const work = async () => {
    runsAtMs.push(Date.now() - startedAtMs);
    if (isBroken) throw new Error('time zone "US/Pacific-New" not recognized');
    return 1_000;
  };
  const onFailure = vi.fn();
  const duty = dutyLoop({ work, afterFailureMs: 250, onFailure });
  duty.start();
  await vi.advanceTimersByTimeAsync(15_750);
  expect(runsAtMs).toEqual([0, 250, 750, 1_750, 3_750, 7_750, 11_750, 15_750]);
  expect(onFailure).toHaveBeenCalledTimes(runsAtMs.length);
  isBroken = false;
  await vi.advanceTimersByTimeAsync(5_000);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(1_250);
  expect(runsAtMs.slice(8)).toEqual([19_750, 20_750, 21_750, 22_000]);
  await duty.close();
});

it('work that takes long twice in a row is done less often; one run that was held up changes nothing', () => {
  const pauseAfter = pausesOf(4_000, 1 / 20);
  const tookMs = [10, 60_000, 10, 1_000, 2_000, 1_500, 10];
  expect(tookMs.map(pauseAfter)).toEqual([4_000, 4_000, 4_000, 4_000, 20_000, 30_000, 4_000]);
});
