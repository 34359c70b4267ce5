import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { Bookkeeper, type Bookkeeping } from '../../src/books/bookkeeper.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { BooksTransaction } from '../../src/store/books/books-transaction.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { partly } from '../support/partly.ts';
import { rowsOf } from '../support/server.ts';
import { PATIENT_MS } from '../support/timing.ts';
import { openBooks } from './support/booked-day.ts';
import { AT_ONCE, dayBefore } from './support/closed-days.ts';

const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/databases.md'), 'utf8');

/** The rows of the page's table, as `[at most, for]`. */
const PROMISED = [...PAGE.matchAll(/^\| (\d+) \| (.*) \|$/gm)].map(
  ([, most, what = '']) => [Number(most), what] as const,
);

it('a worker opens as many connections for the books as the manual counts, during a rebuild too', async () => {
  const books = await openBooks(dayBefore(3));
  onTestFinished(() => books.close());
  await books.book('alpha', 1);
  const { promise: isRebuilt, resolve: rebuilt } = Promise.withResolvers<undefined>();
  const rebuild = BooksTransaction.run({ url: books.url }, true, () => isRebuilt);
  const waiting = async () => {
    const rows = await rowsOf(
      books.url,
      `SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'wagergate-books'
          AND wait_event_type = 'Lock' AND wait_event = 'advisory'`,
    );
    return rows.length;
  };
  const bookkeeper = new Bookkeeper(
    partly<Bookkeeping>({
      runner: books.database,
      database: { url: books.url },
      configuration: () => ({ operators: new Map(), gateway: { books: AT_ONCE } }),
      clock: systemClock,
      logger: { warn: vi.fn(), error: vi.fn(), info: vi.fn() },
      metrics: createMetrics(),
    }),
  );
  bookkeeper.start();
  onTestFinished(async () => {
    rebuilt(undefined);
    await rebuild;
    await bookkeeper.close();
  });
  // Counting what is open and closing a day wait for the rebuild side by side.
  await vi.waitFor(async () => expect(await waiting()).toBe(2), PATIENT_MS);
  expect(PROMISED.find(([, what]) => what.startsWith('the books,'))?.[0]).toBe(2);
});

it('the manual says of a process what its kinds of connections make together', () => {
  const sum = PROMISED.reduce((total, [most]) => total + most, 0);
  expect(PAGE).toContain(`A process has at most ${sum} connections.`);
});
