import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HeadStart } from '../../../src/deliveries/head-start.ts';

const OPEN_MS = 1_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  [OPEN_MS, [0, 500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_000, 3_000]],
  [300_000, [0, 2_500, 5_000, 7_500, 10_000, 12_500, 15_000, 15_000, 15_000]],
])(
  'a delivery waits longer each time that the breaker has opened again, with %i ms',
  (openMs, expected) => {
    const headStart = new HeadStart();
    const waits = Array.from({ length: 9 }, () => {
      const beganAtMs = Date.now();
      const probe = vi.fn(() => Date.now());
      headStart.begin('alpha', openMs, probe);
      vi.runAllTimers();
      expect(probe).toHaveBeenCalledOnce();
      expect(headStart.isOn('alpha')).toBe(false);
      headStart.end('alpha', 'open');
      return Number(probe.mock.results[0]?.value) - beganAtMs;
    });
    expect(waits).toEqual(expected);
  },
);

it.each(['open', 'closed'] as const)('a breaker that is %s meanwhile gets no delivery', (state) => {
  const headStart = new HeadStart();
  const probe = vi.fn();
  headStart.begin('alpha', OPEN_MS, () => undefined);
  headStart.begin('alpha', OPEN_MS, probe);
  expect(headStart.isOn('alpha')).toBe(true);
  expect(headStart.isOn('beta')).toBe(false);
  headStart.end('alpha', state);
  expect(headStart.isOn('alpha')).toBe(false);
  vi.runAllTimers();
  expect(probe).not.toHaveBeenCalled();
});

it('once closed, the next delivery goes at once', () => {
  const headStart = new HeadStart();
  headStart.begin('alpha', OPEN_MS, () => undefined);
  headStart.end('alpha', 'closed');
  const probe = vi.fn();
  headStart.begin('alpha', OPEN_MS, probe);
  expect(probe).toHaveBeenCalledOnce();
});

it('nothing is called after its end', () => {
  const headStart = new HeadStart();
  const probe = vi.fn();
  headStart.begin('alpha', OPEN_MS, () => undefined);
  headStart.begin('alpha', OPEN_MS, probe);
  headStart.close();
  vi.runAllTimers();
  expect(probe).not.toHaveBeenCalled();
});
