import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Bookkeeper, type Bookkeeping } from '../../src/books/bookkeeper.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { partly } from '../support/partly.ts';
import { TestClock } from '../support/test-clock.ts';

const TEN_MINUTES_MS = 600_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it('a time zone that the books do not take is told once, and again once another is configured', async () => {
  const warn = vi.fn();
  let timeZone = 'Europe/Berlin';
  const bookkeeper = new Bookkeeper(
    partly<Bookkeeping>({
      runner: {
        run: async ({ name }: { name: string }) =>
          name === 'books-read-cursor' ? [{ version: '1', at: {}, timeZone: 'UTC' }] : [],
      },
      // Nobody listens there: what needs a connection of its own fails.
      database: { url: 'postgresql://127.0.0.1:9/none' },
      configuration: () => ({ operators: new Map(), gateway: { books: { timeZone } } }),
      clock: new TestClock(),
      logger: { warn, error: vi.fn(), info: vi.fn() },
      metrics: createMetrics(),
    }),
  );
  const told = () =>
    warn.mock.calls
      .filter(([, line]) => line === 'books.time_zone_differs')
      .map(([{ kept, configured }]) => `${kept}, not ${configured}`);
  bookkeeper.start();
  await vi.advanceTimersByTimeAsync(TEN_MINUTES_MS);
  expect(told()).toEqual(['UTC, not Europe/Berlin']);
  timeZone = 'Asia/Kolkata';
  await vi.advanceTimersByTimeAsync(10_000);
  expect(told().slice(1)).toEqual(['UTC, not Asia/Kolkata']);
  await bookkeeper.close();
});
