import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { prune } from '../../../src/store/prune/prune.ts';
import { placedBet, type TestBet, unplacedBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';
import { bookAll } from '../support/kept-books.ts';
import { csvOf, kindsOf, type Listed, listOf, reconcile } from './support/lists.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    gateway: { delivery: { minBackoffMs: 20, maxBackoffMs: 40 } },
    operators: { alpha: {}, beta: {} },
  });
  await placedBet(gateway, { amount: '10' });
});
afterAll(() => gateway.close());

const honest = () => listOf(gateway.wallet('alpha'));

/** The honest list with one bet's line changed or removed. */
function damaged(bet: TestBet, change: (line: Listed) => readonly Listed[]): Listed[] {
  return honest().flatMap((line) =>
    line.transactionId === bet.transactionId ? change(line) : [line],
  );
}

describe('what the gateway knows of the reason', () => {
  it('is a rollback that is promised: agrees when delivered (I4)', async () => {
    const bet = await placedBet(gateway, { amount: '8' });
    const { transactionId } = bet;
    const over = bet.wallet.misbehave(
      'rollback',
      { kind: 'status', status: 500 },
      { transactionId },
    );
    await bet.rollback();
    const { told } = await reconcile(gateway, csvOf(honest()));
    expect(kindsOf(told)).toEqual([`state_differs ${transactionId}`]);
    expect(told?.differences[0]?.reason).toMatch(
      /^rollback promised at 20\S+Z, not delivered yet: agrees when delivered/,
    );
    // The service believes that it is rolled back, and its list says so.
    const believed = damaged(bet, (line) => [{ ...line, state: 'rolled_back' }]);
    expect((await reconcile(gateway, csvOf(believed))).code).toBe(0);
    over();
    const worker = gateway.parts.deliveryWorker();
    worker.start();
    const delivered = () => bet.deliveries().then((rows) => rows.map(({ state }) => state));
    await vi.waitFor(async () => expect(await delivered()).toEqual(['delivered']), 10_000);
    await worker.close();
    expect((await reconcile(gateway, csvOf(honest()))).code).toBe(0);
  });

  it('is a place that the wallet declined, and one of unknown outcome', async () => {
    const [declined, unknown] = [await unplacedBet(gateway), await unplacedBet(gateway)];
    const { wallet } = declined;
    wallet.misbehave('place', { kind: 'code', code: 7 }, declined);
    wallet.misbehave('place', { kind: 'status', status: 500 }, unknown);
    await Promise.all([declined.place(), unknown.place()]);
    expect((await reconcile(gateway, csvOf(honest()))).code).toBe(0);
    const lines = [declined, unknown].map(({ transactionId }) => ({
      ...(honest()[0] as Listed),
      transactionId,
    }));
    const { told } = await reconcile(gateway, csvOf([...honest(), ...lines]));
    const reasons = new Map(told?.differences.map((one) => [one.transactionId, one]));
    expect(reasons.get(declined.transactionId)).toMatchObject({
      kind: 'state_differs',
      here: { state: 'declined' },
      reason: 'its place was declined with code 7',
    });
    expect(reasons.get(unknown.transactionId)).toMatchObject({
      kind: 'state_differs',
      here: { state: 'unknown' },
      reason: expect.stringContaining('outcome of its place is unknown'),
    });
    await unknown.rollback();
  });

  it('is the day: a bet of another day is compared, and not missed', async () => {
    const old = await placedBet(gateway, { amount: '2' });
    await onServer(gateway.databaseUrl, (client) =>
      client.query(
        `UPDATE bets SET created_at = created_at - interval '20 days' WHERE transaction_id = $1`,
        [old.transactionId],
      ),
    );
    expect((await reconcile(gateway, csvOf(honest()))).code).toBe(0);
    const without = damaged(old, () => []);
    expect((await reconcile(gateway, csvOf(without))).code).toBe(0);
    const { told } = await reconcile(
      gateway,
      csvOf(damaged(old, (line) => [{ ...line, stake: '3' }])),
    );
    expect(kindsOf(told)).toEqual([`amount_differs ${old.transactionId}`]);
    expect(told?.differences[0]?.reason).toContain('outside of these days');
  });

  it('is that the bet was pruned, with what the books have of it, and never of another operator’s (I8)', async () => {
    const [settled, undone, foreign] = [
      await placedBet(gateway, { amount: '10.50' }),
      await placedBet(gateway, { amount: '7' }),
      await placedBet(gateway, { amount: '3', operatorId: 'beta' }),
    ];
    await settled.settle('20');
    await undone.rollback();
    await foreign.settle('4');
    await bookAll(gateway);
    const gone = [settled, undone, foreign].map(({ transactionId }) => transactionId);
    await onServer(gateway.databaseUrl, async (client) => {
      await client.query(`SELECT journal_prepare_month('2026-01-10')`);
      const of = `(SELECT id FROM operations WHERE transaction_id = ANY ($1))`;
      await client.query(
        `UPDATE attempts SET started_at = '2026-01-10' WHERE operation_id IN ${of}`,
        [gone],
      );
      for (const table of ['operations', 'bets']) {
        const old = `UPDATE ${table} SET created_at = '2026-01-10' WHERE transaction_id = ANY ($1)`;
        await client.query(old, [gone]);
      }
    });
    const before = new Date('2026-02-01');
    const options = { before, isDryRun: false, log: () => undefined };
    expect(await prune(gateway.databaseUrl, options)).toMatchObject({ bets: 3 });

    const lines = gone.map((transactionId) => `${transactionId},20`);
    const { told } = await reconcile(
      gateway,
      `transactionId,payout\nunknown,20\n${lines.join('\n')}\n`,
    );
    const reasons = (told?.differences ?? [])
      .filter(({ kind }) => kind === 'missing_here')
      .map(({ transactionId, reason }) => [transactionId, reason]);
    expect(Object.fromEntries(reasons)).toEqual({
      unknown: null,
      [settled.transactionId]: 'pruned here: the books have a stake of 10.5 and a result of 20',
      [undone.transactionId]: 'pruned here: the books have its rollback',
      [foreign.transactionId]: null,
    });
  });
});
