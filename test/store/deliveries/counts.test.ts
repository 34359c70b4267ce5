import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

let journal: TestJournal;
let store: DeliveryStore;
beforeAll(async () => {
  journal = await openTestJournal();
  store = new DeliveryStore(journal.database);
});
afterAll(() => journal.close());
beforeEach(() => journal.sql('TRUNCATE bets, operations, attempts, deliveries, operator_holds'));

const insert = (prefix: string, count: number, more: object = {}) =>
  onServer(journal.url, (client) =>
    insertBacklog(client, {
      ...{ ...journal.owner, sessionId: journal.sessionId, prefix, count },
      ...more,
    }),
  );

it('counts of what ended only what ended since the last look', async () => {
  await insert('ended', 2, { state: 'delivered' });
  const until = await store.countableUntil();
  const ended = await store.countEnded(new Date(0), until, 100);
  expect(ended).toMatchObject({ counts: [{ count: 2 }], until });
  expect((await store.countEnded(until, new Date(), 100)).counts).toEqual([]);
});

it('counts years of ended deliveries stretch by stretch, each of them once', async () => {
  await insert('ended', 25, { state: 'delivered' });
  // Three at a time end together, so that pieces of four split such a group.
  await journal.sql(
    `UPDATE deliveries SET settled_at = now() - interval '1 year' + (id / 3) * interval '1 day'`,
  );
  const until = await store.countableUntil();
  const counted: number[] = [];
  let from = new Date(0);
  while (from < until) {
    const ended = await store.countEnded(from, until, 4);
    expect(ended.until.getTime()).toBeGreaterThan(from.getTime());
    counted.push(ended.counts.reduce((sum, { count }) => sum + count, 0));
    from = ended.until;
  }
  expect(counted.length).toBeGreaterThan(3);
  expect(Math.max(...counted)).toBeLessThanOrEqual(6);
  expect(counted.reduce((sum, count) => sum + count, 0)).toBe(25);
});

it.each(['delivered', 'refused', 'superseded', 'resolved'])(
  'counts what ended %s',
  async (state) => {
    await insert('ended', 2, { state: 'delivered' });
    await journal.sql(`UPDATE deliveries SET state = '${state}'`);
    const { counts } = await store.countEnded(new Date(0), await store.countableUntil(), 100);
    expect(counts).toMatchObject([{ state, count: 2 }]);
  },
);

it('counts no confirmation: its operation has been counted already', async () => {
  await insert('ended', 2, { state: 'delivered' });
  await journal.sql(`UPDATE deliveries SET purpose = 'confirm' WHERE transaction_id = 'ended-1'`);
  const { counts } = await store.countEnded(new Date(0), await store.countableUntil(), 100);
  expect(counts).toMatchObject([{ count: 1 }]);
});
