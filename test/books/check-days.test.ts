import { expect, it, vi } from 'vitest';
import { Bookkeeper, type Bookkeeping } from '../../src/books/bookkeeper.ts';
import { GatewayError } from '../../src/domain/errors.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { partly } from '../support/partly.ts';
import { TestClock } from '../support/test-clock.ts';

it('checks the days of others where one operator’s sums take too long (I7)', async () => {
  const checked: unknown[] = [];
  const run = async ({ name }: { name: string }, input: unknown): Promise<unknown[]> => {
    if (name === 'books-operators-of-open-days') return ['alpha', 'beta'];
    if (name !== 'books-check-days') return [];
    checked.push(input);
    if (input === 'alpha') throw new GatewayError('DATABASE_UNAVAILABLE', 'statement timeout');
    return [1];
  };
  const [warn, error] = [vi.fn(), vi.fn()];
  const bookkeeper = new Bookkeeper(
    partly<Bookkeeping>({
      runner: { run },
      databaseUrl: 'postgresql://127.0.0.1:9/none',
      configuration: () => ({ operators: new Map(), gateway: { books: { timeZone: 'UTC' } } }),
      clock: new TestClock(),
      logger: { warn, error, info: vi.fn() },
      metrics: createMetrics(),
    }),
  );
  bookkeeper.start();
  await vi.waitFor(() => expect(checked).toEqual(['alpha', 'beta']));
  await vi.waitFor(() => expect(error).toHaveBeenCalledWith(expect.anything(), 'books.violated'));
  const failed = { duty: 'check_days', err: expect.any(GatewayError) };
  expect(warn).toHaveBeenCalledWith(failed, 'books.duty_failed');
  await bookkeeper.close();
});

it('tells how far behind the books are also where their checks take too long', async () => {
  const run = async ({ name }: { name: string }): Promise<unknown[]> => {
    if (name === 'books-lag') return [601];
    if (name.startsWith('books-check')) {
      throw new GatewayError('DATABASE_UNAVAILABLE', 'statement timeout');
    }
    return [];
  };
  const metrics = createMetrics();
  const warn = vi.fn();
  const bookkeeper = new Bookkeeper(
    partly<Bookkeeping>({
      runner: { run },
      databaseUrl: 'postgresql://127.0.0.1:9/none',
      configuration: () => ({ operators: new Map(), gateway: { books: { timeZone: 'UTC' } } }),
      clock: new TestClock(),
      logger: { warn, error: vi.fn(), info: vi.fn() },
      metrics,
    }),
  );
  bookkeeper.start();
  const failed = { duty: 'check', err: expect.any(GatewayError) };
  await vi.waitFor(() => expect(warn).toHaveBeenCalledWith(failed, 'books.duty_failed'));
  await bookkeeper.close();
  expect((await metrics.booksLag.get()).values).toEqual([{ labels: {}, value: 601 }]);
});
