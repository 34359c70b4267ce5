import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { BacklogCounts, type OpenCount } from '../../../src/store/deliveries/backlog.ts';
import { type DeliveryRow, insertDelivery } from '../../support/deliveries.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

let journal: TestJournal;
let counts: BacklogCounts;
beforeAll(async () => {
  journal = await openTestJournal();
  counts = new BacklogCounts(journal.database);
});
afterAll(() => journal.close());
beforeEach(() => journal.sql('TRUNCATE bets, operations, attempts, deliveries'));

const insert = (row: DeliveryRow, times = 1) =>
  onServer(journal.url, async (client) => {
    for (let n = 0; n < times; n += 1) await insertDelivery(client, row);
  });

/** `operator operation state` with its count; `+` if there may be more. */
function numbers(open: readonly OpenCount[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    open.map(({ operator, operation, state, count, isAtLeast }) => [
      `${operator} ${operation} ${state}`,
      `${count}${isAtLeast ? '+' : ''}`,
    ]),
  );
}

it('counts what is live, waits, is dead and is unresolved, by operator, operation and state', async () => {
  await insert({ operator: 'alpha' }, 3);
  await insert({ operator: 'alpha', operation: 'settle' });
  await insert({ operator: 'alpha', state: 'delivered' });
  await insert({ operator: 'beta', state: 'dead' }, 2);
  await insert({ operator: 'beta', state: 'live', transactionId: 'busy' });
  await insert({ operator: 'gamma' });
  await journal.sql(`
    UPDATE deliveries SET held = true WHERE operator_id = 'gamma';
    UPDATE bets SET busy_operation = 'rollback', busy_attempt = gen_random_uuid(),
                    busy_until = now() + interval '15 seconds' WHERE transaction_id = 'busy';
    INSERT INTO bets (transaction_id, operator_id, generation, place, rollback, place_answered_unknown)
    VALUES ('unresolved', 'beta', 1, 'unknown', 'none', false),
           ('told-100', 'gamma', 1, 'accepted', 'none', true),
           ('rolled-back', 'beta', 1, 'unknown', 'promised', false)`);
  const { live, waiting, dead, unresolved } = await counts.look();
  expect(numbers(waiting)).toEqual({
    ...{ 'alpha rollback pending': '3', 'alpha settle pending': '1', 'gamma rollback held': '1' },
  });
  expect(numbers(dead)).toEqual({ 'beta rollback dead': '2' });
  expect(numbers(live)).toEqual({ 'beta rollback live': '1' });
  expect(numbers(unresolved)).toEqual({
    ...{ 'beta place unresolved': '1', 'gamma place unresolved': '1' },
  });
});

it('tells the age of the oldest promise of each operation, and none of mere confirmations (I4)', async () => {
  await insert({ operator: 'alpha' });
  await insert({ operator: 'alpha', operation: 'update' }, 3);
  await insert({ operator: 'beta', purpose: 'confirm' });
  await journal.sql(
    `UPDATE deliveries SET created_at = now() - interval '30 minutes' WHERE operation = 'update'`,
  );
  const { waiting } = await counts.look();
  const ages = waiting.map(({ operator, operation, sinceMs, nowMs }) => [
    `${operator} ${operation}`,
    sinceMs && Math.round((nowMs - sinceMs) / 60_000),
  ]);
  expect(Object.fromEntries(ages)).toEqual({
    ...{ 'alpha rollback': 60, 'alpha update': 30, 'beta rollback': undefined },
  });
});

it('counts an operator with very many up to a bound, and the others whole (I7)', async () => {
  await insert({ operator: 'alpha' });
  await insert({ operator: 'omega' }, 2);
  await journal.sql(`
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, next_attempt_at, dead_at)
    SELECT 1000000 + n, 'big', 'big-' || n, 'rollback', 'pending', '', now(), now()
      FROM generate_series(1, 60000) n`);
  const [one, other] = await Promise.all([counts.look(), counts.look()]);
  expect(other).toBe(one);
  expect(numbers(one.waiting)).toEqual({
    ...{ 'alpha rollback pending': '1', 'big rollback pending': '50000+' },
    'omega rollback pending': '2',
  });
});
