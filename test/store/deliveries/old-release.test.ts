import { afterAll, beforeAll, expect, it } from 'vitest';
import { DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

let journal: TestJournal;
beforeAll(async () => {
  journal = await openTestJournal();
});
afterAll(() => journal.close());

it('takes a release that says no wallet for one to the generation it names, and no later one (I4)', async () => {
  const store = new DeliveryStore(journal.database);
  await onServer(journal.url, async (client) => {
    const { owner, sessionId } = journal;
    await insertBacklog(client, { ...owner, sessionId, prefix: 'old', count: 1, generation: 1 });
    // As an earlier release of the gateway recorded it.
    await client.query(
      `INSERT INTO operator_holds (operator_id, released, counted_at) VALUES ('alpha', 3, now())`,
    );
  });
  expect((await store.take('alpha', { generation: 2, limit: 10 })).taken).toEqual([]);
  await journal.sql(`UPDATE deliveries SET held = false, next_attempt_at = clock_timestamp()`);
  expect((await store.take('alpha', { generation: 3, limit: 10 })).taken).toMatchObject([
    { transactionId: 'old-1' },
  ]);
});
