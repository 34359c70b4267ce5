import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Company } from '../../src/store/company.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Somebody who joins, and whether they have left. */
function joined(company: Company) {
  const one = { left: false };
  void company.join().then(() => {
    one.left = true;
  });
  return one;
}

it('leaves together when the first has waited long enough', async () => {
  const company = new Company({ waitMs: 20, enough: 3 });
  const first = joined(company);
  await vi.advanceTimersByTimeAsync(15);
  const second = joined(company);
  await vi.advanceTimersByTimeAsync(4);
  expect([first.left, second.left]).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(1);
  expect([first.left, second.left]).toEqual([true, true]);
});

it('leaves at once when there are enough, and the next begin to wait anew', async () => {
  const company = new Company({ waitMs: 20, enough: 3 });
  const three = [joined(company), joined(company), joined(company)];
  await vi.advanceTimersByTimeAsync(0);
  expect(three.map(({ left }) => left)).toEqual([true, true, true]);

  const next = joined(company);
  await vi.advanceTimersByTimeAsync(19);
  expect(next.left).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  expect(next.left).toBe(true);
});

it('goes along with somebody who cannot wait', async () => {
  const company = new Company({ waitMs: 20, enough: 3 });
  const one = joined(company);
  company.leave();
  await vi.advanceTimersByTimeAsync(0);
  expect(one.left).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
});
