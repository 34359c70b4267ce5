import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HeadStart } from '../../../src/deliveries/head-start.ts';

const SHARED = { openMs: 1_000, isShared: true };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const create = () => new HeadStart({ monotonicMs: () => Date.now() });

/** How long a delivery waits for its turn at a breaker that has just become half-open, and opens again. */
function waited(headStart: HeadStart, how = SHARED): number {
  const beganAtMs = Date.now();
  const probe = vi.fn(() => Date.now());
  headStart.halfOpen('alpha', how, probe);
  vi.runAllTimers();
  expect(probe).toHaveBeenCalledOnce();
  expect(headStart.isOn('alpha')).toBe(false);
  headStart.opened('alpha');
  return Number(probe.mock.results[0]?.value) - beganAtMs;
}

describe('the turn of a delivery at a half-open breaker', () => {
  it.each([
    [1_000, [0, 500, 1_000, 1_500, 2_000, 2_500, 3_000, 3_000]],
    [300_000, [0, 2_500, 5_000, 7_500, 10_000, 12_500, 15_000, 15_000]],
  ])('comes later each time that it opened again, with openMs %i', (openMs, expected) => {
    const headStart = create();
    headStart.opened('alpha');
    expect(expected.map(() => waited(headStart, { openMs, isShared: true }))).toEqual(expected);
  });

  it('comes at once where no live calls come, however often', () => {
    const headStart = create();
    const alone = { openMs: 1_000, isShared: false };
    expect([1, 2, 3].map(() => waited(headStart, alone))).toEqual([0, 0, 0]);
  });

  it('waits for nobody once its past is forgotten, and comes at once the next time', () => {
    const headStart = create();
    waited(headStart);
    headStart.halfOpen('alpha', SHARED, vi.fn());
    headStart.forget('alpha');
    expect(headStart.isOn('alpha')).toBe(false);
    expect(waited(headStart)).toBe(0);
  });

  it.each(['opened', 'closed', 'close'] as const)('does not come once it is %s', (what) => {
    const headStart = create();
    waited(headStart);
    const probe = vi.fn();
    headStart.halfOpen('alpha', SHARED, probe);
    expect(headStart.isOn('alpha')).toBe(true);
    expect(headStart.isOn('beta')).toBe(false);
    headStart[what]('alpha');
    expect(headStart.isOn('alpha')).toBe(false);
    vi.runAllTimers();
    expect(probe).not.toHaveBeenCalled();
  });
});

describe('a breaker that was closed', () => {
  const closedFor = (ms: number) => {
    const headStart = create();
    headStart.opened('alpha');
    expect(headStart.isFlapping('alpha')).toBe(false);
    waited(headStart);
    headStart.closed('alpha');
    vi.advanceTimersByTime(ms);
    headStart.opened('alpha');
    return headStart;
  };

  it('for a minute has recovered: the next delivery goes at once', () => {
    const headStart = closedFor(60_000);
    expect(headStart.isFlapping('alpha')).toBe(false);
    expect(waited(headStart)).toBe(0);
  });

  it('for less flaps until it has been closed for a minute: the next delivery waits', () => {
    const headStart = closedFor(59_999);
    expect(headStart.isFlapping('alpha')).toBe(true);
    expect(headStart.isFlapping('beta')).toBe(false);
    expect(waited(headStart)).toBe(500);
    headStart.closed('alpha');
    expect(headStart.isFlapping('alpha')).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(headStart.isFlapping('alpha')).toBe(false);
  });
});
