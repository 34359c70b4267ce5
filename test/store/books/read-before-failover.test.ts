import { expect, it } from 'vitest';
import { keepBooks } from '../../../src/books/keep-books.ts';
import { BooksJournal, type Runner } from '../../../src/store/books/books-journal.ts';
import { placedBet } from '../../support/bet.ts';
import { rowsOf } from '../../support/server.ts';
import { openServerPair } from '../../support/server-pair.ts';
import { PATIENT_MS } from '../../support/timing.ts';

const PATIENT = { timeout: PATIENT_MS };

/** A gateway on a primary whose standby receives nothing from it. */
async function openPair() {
  const { primary, standby, gateway, lead, takesWrites } = await openServerPair(true);
  const { database } = gateway.parts;
  const failOver = async () => {
    await primary.kill('SIGQUIT');
    lead(standby);
    await standby.promote();
    await expect.poll(takesWrites, PATIENT).toBe(true);
  };
  return { standby, gateway, database, failOver };
}

it('what was read of a server is not booked on one that lacks it (I12)', {
  timeout: 120_000,
}, async () => {
  const { standby, gateway, database, failOver } = await openPair();
  await placedBet(gateway, { amount: '10' });
  const pausedBeforeBooking: Runner = {
    run: async (statement, input) => {
      if (statement.name === 'books-book') await failOver();
      return await database.run(statement, input);
    },
  };
  expect(await keepBooks(new BooksJournal(pausedBeforeBooking), 'UTC')).toEqual({
    kind: 'overtaken',
  });
  const booked = () => rowsOf(standby.url, 'SELECT amount::text FROM books_movements');
  expect(await booked()).toEqual([]);
  await placedBet(gateway, { amount: '7' });
  const journal = new BooksJournal(database);
  await expect
    .poll(async () => [await keepBooks(journal, 'UTC'), await booked()].at(-1))
    .toEqual([{ amount: '-7' }]);
});
