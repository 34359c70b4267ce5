import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rebuildBooks } from '../../src/books/rebuild.ts';
import { BooksTransaction } from '../../src/store/books/books-transaction.ts';
import { BooksChecks } from '../../src/store/books/checks.ts';
import { countUnresolved } from '../../src/store/books/unresolved.ts';
import { BY } from '../support/audit.ts';
import { placedBet, type TestBet } from '../support/bet.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { asPerson } from '../support/person.ts';
import { onServer } from '../support/server.ts';
import { csvOf, listOf, reconcile } from './reconciliation/support/lists.ts';
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

/** A person resolves its dead letter, once there is one. */
async function putRight({ transactionId }: TestBet, why: string): Promise<void> {
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
    expect(await admin.resolve(dead, 'ann', why, BY)).toMatchObject({ kind: 'resolved' });
  });
}

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
    await putRight(bet, 'credited by hand');
    await bookAll(gateway);
    await rebuild();
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE books_cursor SET checked_in = '0'`),
    );
    const checks = new BooksChecks(gateway.parts.database);
    expect(await checks.checkBets()).toMatchObject({ wrong: 0 });
    expect(await movementsOfBet(gateway, transactionId)).toEqual(['stake -10 1']);
  });

  it('finds a movement that its bet should not have, until the bet has none', async () => {
    const { transactionId } = await placedBet(gateway, { amount: '10' });
    await bookAll(gateway);
    const change = (sql: string) =>
      onServer(gateway.databaseUrl, (client) =>
        client.query(`${sql} WHERE transaction_id = $1`, [transactionId]),
      );
    const found = async () => {
      await new BooksChecks(gateway.parts.database).checkBets();
      return await rowsOf(
        gateway,
        `SELECT found, expected FROM books_violations WHERE rule = 'bet' AND subject = $1`,
        [transactionId],
      );
    };
    await change(`UPDATE bets SET place = 'declined'`);
    await onServer(gateway.databaseUrl, (client) =>
      client.query(`UPDATE books_cursor SET checked_in = '0'`),
    );
    expect(await found()).toEqual([
      { found: expect.stringMatching(/^stake -10/), expected: 'stake 0, result 0' },
    ]);
    await change('DELETE FROM books_movements');
    expect(await found()).toEqual([]);
    await change(`UPDATE bets SET place = 'accepted'`);
    await rebuild();
  });
});

describe('a dead rollback that a person has seen to', () => {
  it('is open no longer: not in the books, nor in what a reconciliation says of it', async () => {
    const bet = await placedBet(gateway, { amount: '10' });
    const { transactionId } = bet;
    bet.wallet.misbehave('rollback', { kind: 'code', code: 20 }, { transactionId });
    expect((await bet.rollback()).status).toBe(200);
    const unresolved = async () => {
      await BooksTransaction.prepared(gateway.databaseUrl, (books) =>
        countUnresolved(books, { timeZone: 'UTC' }),
      );
      return await rowsOf(gateway, 'SELECT unresolved::int FROM books_days WHERE unresolved > 0');
    };
    expect(await unresolved()).toEqual([{ unresolved: 1 }]);
    const hasEnded = 'UPDATE deliveries SET dead_at = now() WHERE transaction_id = $1';
    await rowsOf(gateway, hasEnded, [transactionId]);
    await putRight(bet, 'refunded by hand, OPS-17');
    expect(await unresolved()).toEqual([]);
    const { told } = await reconcile(gateway, csvOf(listOf(gateway.wallet('alpha'))));
    const difference = told?.differences.find((one) => one.transactionId === transactionId);
    expect(difference).toMatchObject({
      kind: 'state_differs',
      reason: 'settled by hand: ann: refunded by hand, OPS-17',
    });
  });
});
