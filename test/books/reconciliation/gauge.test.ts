import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ReconciliationDifferences } from '../../../src/store/reconciliation/differences.ts';
import { BY } from '../../support/audit.ts';
import { placedBet } from '../../support/bet.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { csvOf, type Listed, listOf, reconcile } from './support/lists.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
  await placedBet(gateway);
  await placedBet(gateway, { operatorId: 'beta' });
});
afterAll(() => gateway.close());

const honest = (operator = 'alpha') => listOf(gateway.wallet(operator));

describe('gateway_reconciliation_differences', () => {
  it('shows the open differences of each operator’s newest run, and never of failed runs', async () => {
    const bookkeeper = gateway.parts.bookkeeper();
    const differences = (operator: string, kind: string) =>
      gateway.metric('gateway_reconciliation_differences', { operator, kind });
    const strangers = (count: number): Listed[] =>
      Array.from({ length: count }, (_, at) => ({
        ...(honest()[0] as Listed),
        transactionId: `metric-${at}`,
      }));
    await reconcile(gateway, csvOf([...honest(), ...strangers(5)]));
    const { told } = await reconcile(gateway, csvOf([...honest(), ...strangers(3)]));
    await new ReconciliationDifferences(gateway.parts.database).resolve(
      told?.id ?? '',
      told?.differences[0]?.id ?? '',
      BY,
    );
    await reconcile(gateway, csvOf(honest('beta')), { operator: 'beta' });
    expect((await reconcile(gateway, 'nothing\n')).code).toBe(1);
    bookkeeper.start();
    try {
      const shown = async () =>
        expect([
          await differences('alpha', 'missing_here'),
          await differences('alpha', 'missing_there'),
          await differences('beta', 'missing_here'),
        ]).toEqual([2, 0, 0]);
      await vi.waitFor(shown, 10_000);
    } finally {
      await bookkeeper.close();
    }
  });
});
