import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { prune } from '../../../src/store/prune/prune.ts';
import { SideTable } from '../../../src/store/reconciliation/side-table.ts';
import { createDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

let database: Awaited<ReturnType<typeof createDatabase>>;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

it('a comparison whose process is stopped lets go of the journal, so that months can be pruned and made', async () => {
  const table = await SideTable.open(database.url, 1_000);
  onTestFinished(() => table.close());
  const nothingListed = { currency: null, stake: null, payout: null, state: null };
  await table.add(
    Array.from({ length: 5_000 }, (_, at) => ({
      ...{ line: at + 1, transactionId: `stranger-${at}`, isUnreadable: false, ...nothingListed },
    })),
  );
  const days = { startsAt: new Date(0), endsAt: new Date(86_400_000) };
  const pages = table.compared({ operatorId: 'alpha', ...days })[Symbol.asyncIterator]();
  expect((await pages.next()).done).toBe(false);

  await onServer(database.url, (client) =>
    client.query("SELECT journal_prepare_month('2026-01-10')"),
  );
  const options = { before: new Date('2026-02-01'), isDryRun: false, log: () => undefined };
  const { months } = await prune(database.url, options);
  expect(months).toMatchObject([{ month: '2026-01', result: 'dropped' }]);
  await expect(pages.next()).rejects.toThrow('idle-in-transaction timeout');
});
