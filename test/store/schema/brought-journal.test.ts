import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rebuildBooks } from '../../../src/books/rebuild.ts';
import { readEnvironment } from '../../../src/config/environment/environment.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { awaitDatabase } from '../../../src/process/start-up.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import {
  bookAll,
  bookReadable,
  movementsOfBet,
  wholeBooks,
} from '../../books/support/kept-books.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';

/** More transactions than any server of these tests has had. */
const AHEAD = 10n ** 12n;

describe('a journal that was brought from another server as rows (I12)', () => {
  let gateway: TestGateway;
  let booked: TestBet;
  let waiting: TestBet;
  const lines: string[] = [];
  beforeAll(async () => {
    gateway = await startTestGateway();
    booked = await placedBet(gateway, { amount: '10' });
    await bookAll(gateway);
    waiting = await placedBet(gateway, { amount: '10' });
    await waiting.settle('20');
    await waiting.settle('5');
    await bring();
  });
  afterAll(() => gateway.close());

  /** The rows are as on the old server, and this server has had fewer transactions. */
  const bring = () =>
    onServer(gateway.databaseUrl, (client) =>
      client.query(
        [
          ['attempts', 'written_in'],
          ['books_movements', 'written_in'],
          ['books_cursor', 'written_in'],
        ]
          .map(
            ([table, column]) =>
              `UPDATE ${table} SET ${column} = ((${column}::text::numeric + ${AHEAD})::text)::xid8`,
          )
          .join(';'),
      ),
    );
  const migrated = () => migrate(gateway.databaseUrl, { log: (line) => lines.push(line) });
  const start = () =>
    awaitDatabase(
      readEnvironment({ DATABASE_URL: gateway.databaseUrl, REDIS_URL: 'redis://127.0.0.1:1' }),
      systemClock,
      pino({ level: 'silent' }),
    );

  it('starts no gateway, which says what to do', async () => {
    expect(await bookReadable(gateway)).toBe(0);
    await expect(start()).rejects.toThrow(
      /comes from another server.*run `wagergate migrate` once/,
    );
  });

  it('is read again from where it was, each effect once, and goes on with what comes since', async () => {
    await migrated();
    expect(lines).toEqual([
      expect.stringContaining('goes on above the transactions that it holds'),
    ]);
    await start();
    const since = await placedBet(gateway, { amount: '3' });
    await since.settle('4');
    await waiting.unsettle();
    await bookAll(gateway);
    expect(await movementsOfBet(gateway, booked.transactionId)).toEqual(['stake -10 1']);
    expect(await movementsOfBet(gateway, waiting.transactionId)).toEqual([
      'stake -10 1',
      'payout 20 -1',
      'payout_reversal -15 0',
      'payout_reversal -5 1',
    ]);
    expect(await movementsOfBet(gateway, since.transactionId)).toEqual([
      'stake -3 1',
      'payout 4 -1',
    ]);
  });

  it('makes the same books once more from the journal, and needs nothing a second time', async () => {
    const before = await wholeBooks(gateway);
    await rebuildBooks(gateway.databaseUrl, {
      ...{ timeZone: 'UTC', fromDay: undefined },
      log: () => undefined,
    });
    await bookAll(gateway);
    expect(await wholeBooks(gateway)).toEqual(before);
    lines.length = 0;
    await migrated();
    expect(lines).toEqual([]);
  });

  it('may be brought on to a third server', async () => {
    await bring();
    await expect(start()).rejects.toThrow('comes from another server');
    await migrated();
    const since = await placedBet(gateway, { amount: '2' });
    await bookAll(gateway);
    expect(await movementsOfBet(gateway, since.transactionId)).toEqual(['stake -2 1']);
  });
});
