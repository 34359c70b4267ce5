import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { addressMatcher } from '../../src/http/address-matcher.ts';
import { arrivedAtMs, EventLoopLag } from '../../src/http/arrival.ts';
import { partly } from '../support/partly.ts';
import { TestClock } from '../support/test-clock.ts';

const clock = new TestClock();
clock.wallMs = 1_790_000_000_000;
clock.atMs = 1_000_000;

/** How many milliseconds ago this request started. */
function agoMs(requestStart: string | undefined, lagMs = 0): number {
  const lag = partly<EventLoopLag>({ currentMs: () => lagMs });
  return clock.atMs - arrivedAtMs(clock, lag, requestStart);
}

it.each([
  ['t=1789999999.500', 500],
  ['1789999999500', 500],
  ['t=1789999999500000', 500],
  // A clock that is off by more than a callback may take, or is ahead, is not believed.
  ['t=1789999939.000', 0],
  ['t=1790000000.500', 0],
  ['yesterday', 0],
  [undefined, 0],
])('a request that a proxy saw at %j arrived %i ms ago (I1)', (requestStart, ago) => {
  expect(agoMs(requestStart)).toBeCloseTo(ago, 3);
});

it('a request that is read after this process was busy arrived before that (I1)', async () => {
  const lag = new EventLoopLag(systemClock);
  const busyUntilMs = systemClock.monotonicMs() + 150;
  while (systemClock.monotonicMs() < busyUntilMs);
  await new Promise((resolve) => setTimeout(resolve));
  expect(lag.currentMs()).toBeGreaterThan(50);
  lag.close();
});

it('what waited behind a lag arrived before it, and a second later nothing did (I1)', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const ticking = new TestClock();
  const lag = new EventLoopLag(ticking);
  onTestFinished(() => lag.close());
  ticking.atMs += 5_020;
  expect(lag.currentMs()).toBe(5_000);
  vi.advanceTimersByTime(20);
  expect(lag.currentMs()).toBe(5_000);
  for (let atMs = 0; atMs < 980; atMs += 20) {
    ticking.atMs += 20;
    vi.advanceTimersByTime(20);
  }
  expect(lag.currentMs()).toBe(5_980);
  ticking.atMs += 20;
  vi.advanceTimersByTime(20);
  expect(lag.currentMs()).toBe(0);
});

it.each([
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['::FFFF:a01:203', true],
  ['::ffff:11.1.2.3', false],
  ['2001:db8::7', true],
  ['2001:db9::7', false],
  ['192.0.2.1', true],
  ['192.0.2.2', false],
])('%s is one of the addresses: %s, however a socket spells it', (address, is) => {
  expect(addressMatcher(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1'])(address)).toBe(is);
});
