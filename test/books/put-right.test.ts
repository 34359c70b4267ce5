import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { BooksChecks } from '../../src/store/books/checks.ts';
import { BY } from '../support/audit.ts';
import { placedBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import { onServer } from '../support/server.ts';
import { bookAll, movementsOfBet, rowsOf, wholeBooks } from './support/kept-books.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    worker: true,
    operators: { alpha: { settle: { onFailure: 'queue' } } },
    gateway: { delivery: { minBackoffMs: 20, maxBackoffMs: 40 } },
  });
});
afterAll(() => gateway.close());

const rebuild = () =>
  rebuildBooks(gateway.databaseUrl, { timeZone: 'UTC', fromDay: undefined, log: () => undefined });

describe('a rebuild while bets go on', () => {
  it('calls nothing another row that it is the first to book (I12)', async () => {
    await bookAll(gateway);
    const before = (await wholeBooks(gateway)).length;
    const { transactionId } = await placedBet(gateway, { amount: '10' });
    await vi.waitFor(async () => expect(await rebuild()).toMatchObject({ added: 1 }), 10_000);
    expect(await movementsOfBet(gateway, transactionId)).toEqual(['stake -10 1']);
    expect(await rebuild()).toMatchObject({ before: before + 1, added: 0, changed: 0 });
  });
});

describe('the checker of the books (I12)', () => {
  it('is silent about a result that a person put right by hand, on a rebuild too', async () => {
    const bet = await placedBet(gateway, { amount: '10' });
    const { transactionId } = bet;
    bet.wallet.misbehave('settle', { kind: 'status', status: 500 }, { transactionId, calls: 1 });
    bet.wallet.misbehave('settle', { kind: 'code', code: 20 }, { transactionId, calls: 1 });
    expect((await bet.settle('20')).status).toBe(200);
    const dead = await vi.waitFor(async () => {
      const [row] = await rowsOf(
        gateway,
        `SELECT id::text FROM deliveries WHERE transaction_id = $1 AND state = 'dead'`,
        [transactionId],
      );
      if (row === undefined) throw new Error('it is not dead yet');
      return String(row.id);
    }, 10_000);
    await asPerson(gateway, async (admin) => {
      expect(await admin.resolve(dead, 'ann', 'credited by hand', BY)).toMatchObject({
        kind: 'resolved',
      });
    });
    await bookAll(gateway);
    await rebuild();
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE books_cursor SET checked_in = '0'`),
    );
    const checks = new BooksChecks(gateway.parts.database);
    expect(await checks.checkBets()).toMatchObject({ wrong: 0 });
    expect(await movementsOfBet(gateway, transactionId)).toEqual(['stake -10 1']);
  });
});
