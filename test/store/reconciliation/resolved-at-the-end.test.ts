import { expect, it, onTestFinished } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { ReconciliationDifferences } from '../../../src/store/reconciliation/differences.ts';
import { ReconciliationRuns } from '../../../src/store/reconciliation/runs.ts';
import { BY } from '../../support/audit.ts';
import { openDatabase } from '../../support/database.ts';
import { waitForLock } from '../../support/server.ts';

const COUNTS = {
  ...{ agree: 0, missing_there: 1, missing_here: 0, amount_differs: 0, state_differs: 0 },
  ...{ currency_differs: 0, duplicate_there: 0, unreadable: 0 },
};

it.each([
  ['after', 'reconciliations'],
  ['before', 'reconciliation_differences'],
] as const)(
  'a difference that is resolved just %s a later run ends is not open in that run',
  async (when, table) => {
    const { client, url, drop } = await openDatabase();
    onTestFinished(drop);
    const database = new Database({ url, connectionsMax: 3, onIdleError: () => undefined });
    onTestFinished(() => database.close());
    const runs = new ReconciliationRuns(database);
    const differences = new ReconciliationDifferences(database);
    const day = '2026-11-20';
    const plan = { operatorId: 'alpha', from: day, to: day, timeZone: 'UTC', actor: 'ann' };
    const begin = async () => {
      const { id } = await runs.begin(plan);
      const found = {
        kind: 'missing_there',
        transactionId: 'bet',
        here: null,
        there: null,
      } as const;
      await differences.note(
        { id, operatorId: 'alpha' },
        [{ ...found, line: null, reason: null }],
        1,
      );
      return id;
    };
    const earlier = await begin();
    expect(await runs.finish(earlier, COUNTS)).toBe(true);
    const [difference] = (await differences.list({ runId: earlier })).items;
    const later = await begin();
    const finish = () => runs.finish(later, COUNTS);
    const resolve = () => differences.resolve(earlier, difference?.id ?? '', BY);

    // Of a large run the end takes long: here the first of the two waits for a row, and the second begins meanwhile.
    await client.query(`BEGIN; SELECT FROM ${table} FOR UPDATE`);
    const first = when === 'after' ? finish() : resolve();
    await waitForLock(url);
    const second = when === 'after' ? resolve() : finish();
    await waitForLock(url, 2);
    await client.query('COMMIT');
    await Promise.all([first, second]);
    const [end, before] = [await runs.find(later), await runs.find(earlier)];
    expect([end?.state, end?.open?.missing_there, before?.open?.missing_there]).toEqual([
      'done',
      0,
      0,
    ]);
  },
);
