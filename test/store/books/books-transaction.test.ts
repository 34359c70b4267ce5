import { afterAll, beforeAll, expect, it } from 'vitest';
import { BooksTransaction } from '../../../src/store/books/books-transaction.ts';
import { openBooks } from '../../books/support/booked-day.ts';
import { createDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('a connection that the server ends between two queries fails the work, not the process (I12)', async () => {
  const ended = BooksTransaction.run(database.url, false, async (books) => {
    const [pid] = await books.rows('SELECT pg_backend_pid() AS pid', [], (row) => row.int('pid'));
    await onServer(database.url, (client) =>
      client.query('SELECT pg_terminate_backend($1, 5000)', [pid]),
    );
    const asked = () =>
      books.execute('SELECT 1').then(
        () => 'works',
        () => 'gone',
      );
    await expect.poll(asked).toBe('gone');
  });
  await expect(ended).rejects.toThrow();
  const version = await onServer(database.url, (client) =>
    client.query('SELECT version::int AS version FROM books_cursor'),
  );
  expect(version.rows).toEqual([{ version: 0 }]);
});

it('a worker that is stopped while it has the books locked does not keep them locked for ever (I7)', async () => {
  const books = await openBooks();
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: isLocked, resolve: tellLocked } = Promise.withResolvers<void>();
  const stopped = BooksTransaction.prepared(books.url, async (transaction) => {
    await transaction.lock();
    tellLocked();
    await goesOn;
  });
  await isLocked;
  const booked = () =>
    books.book('alpha', 1).then(
      () => true,
      () => false,
    );
  await expect.poll(booked, { timeout: 25_000 }).toBe(true);
  goOn();
  await expect(stopped).rejects.toThrow();
  await books.close();
}, 60_000);
