import { expect, it, onTestFinished } from 'vitest';
import { keepBooks } from '../../../src/books/keep-books.ts';
import { BooksJournal, type Runner } from '../../../src/store/books/books-journal.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { startPostgres } from '../../../tools/embedded/postgres.ts';
import { placedBet } from '../../support/bet.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { memoryFolder } from '../../support/memory-folder.ts';
import { rowsOf } from '../../support/server.ts';
import { startStandby } from '../../support/standby.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { PATIENT_MS } from '../../support/timing.ts';

const PATIENT = { timeout: PATIENT_MS };

/** A gateway on a primary whose standby never gets anything of it. */
async function openPair() {
  const primary = await startPostgres({ root: await memoryFolder() });
  onTestFinished(() => primary.stop());
  await migrate(primary.url);
  const standby = await startStandby(primary, { isBehind: true });
  onTestFinished(() => standby.stop());
  const target = { host: '127.0.0.1', port: primary.port };
  const proxy = await startTcpProxy(target);
  onTestFinished(() => proxy.close());
  const gateway = await startTestGateway({
    through: async ({ redisUrl }) => {
      const url = new URL(primary.url);
      url.host = `127.0.0.1:${proxy.port}`;
      return { redisUrl, databaseUrl: url.href };
    },
  });
  onTestFinished(() => gateway.close());
  const { database } = gateway.parts;
  const failOver = async () => {
    await primary.kill('SIGQUIT');
    target.port = standby.port;
    proxy.reset();
    await standby.promote();
    const takesWrites = () => database.takesWrites().catch(() => undefined);
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
