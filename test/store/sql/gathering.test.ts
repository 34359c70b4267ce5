import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Gathering } from '../../../src/store/sql/gathering.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A row that waits for others, and whether it has gone on. */
function waiting(gathering: Gathering) {
  const one = { hasGone: false };
  void gathering.wait().then(() => {
    one.hasGone = true;
  });
  return one;
}

it('lets all rows go together when the first has waited long enough', async () => {
  const gathering = new Gathering({ waitMs: 20, enough: 3 });
  const first = waiting(gathering);
  await vi.advanceTimersByTimeAsync(15);
  const second = waiting(gathering);
  await vi.advanceTimersByTimeAsync(4);
  expect([first.hasGone, second.hasGone]).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(1);
  expect([first.hasGone, second.hasGone]).toEqual([true, true]);
});

it('lets them go at once when there are enough, and the next begin to wait again', async () => {
  const gathering = new Gathering({ waitMs: 20, enough: 3 });
  const three = [waiting(gathering), waiting(gathering), waiting(gathering)];
  await vi.advanceTimersByTimeAsync(0);
  expect(three.map(({ hasGone }) => hasGone)).toEqual([true, true, true]);

  const next = waiting(gathering);
  await vi.advanceTimersByTimeAsync(19);
  expect(next.hasGone).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(next.hasGone).toBe(true);
});

it('lets them go along with a row that cannot wait', async () => {
  const gathering = new Gathering({ waitMs: 20, enough: 3 });
  const one = waiting(gathering);
  gathering.release();
  await vi.advanceTimersByTimeAsync(0);
  expect(one.hasGone).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});
