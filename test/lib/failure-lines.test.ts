import { expect, it } from 'vitest';
import { FailureLines } from '../../src/lib/failure-lines.ts';
import { manualClock } from '../wallets/support/calls.ts';

it('logs how the failures of a duty begin, and then one a minute, so that a day of them does not fill a disk', () => {
  const clock = manualClock();
  const lines = new FailureLines(clock);
  const aDay = Array.from({ length: 86_400 }, () => {
    clock.advance(1_000);
    return lines.next('recover');
  });
  expect(aDay.slice(0, 10)).toEqual(Array(10).fill(true));
  const logged = aDay.filter(Boolean).length;
  expect(logged).toBeGreaterThan(1_440);
  expect(logged).toBeLessThan(1_460);
});

it('logs the first failure of a duty, however often another has failed', () => {
  const lines = new FailureLines(manualClock());
  for (let time = 0; time < 20; time += 1) lines.next('recover');
  expect([lines.next('recover'), lines.next('arm')]).toEqual([false, true]);
});
