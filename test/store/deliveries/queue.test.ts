import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { BetJournal } from '../../../src/store/bets/journal.ts';
import type { TakenDelivery } from '../../../src/store/deliveries/claim-statements.ts';
import { DeliveryAdmin } from '../../../src/store/deliveries/delivery-admin.ts';
import type { DeliveryState } from '../../../src/store/deliveries/delivery-item.ts';
import { DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { BY } from '../../support/audit.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer } from '../../support/server.ts';

let journal: TestJournal;
let store: DeliveryStore;
let bets: BetJournal;
let prisma: Prisma;
let deliveryAdmin: DeliveryAdmin;
beforeAll(async () => {
  journal = await openTestJournal();
  store = new DeliveryStore(journal.database);
  prisma = createPrisma(journal.url);
  deliveryAdmin = new DeliveryAdmin({ prisma, isHeld: () => false, horizonHours: () => 1 });
  bets = new BetJournal(journal.database, journal.clock);
});
afterAll(async () => {
  await prisma.$disconnect();
  await journal.close();
});
beforeEach(() => journal.sql('TRUNCATE bets, operations, attempts, deliveries, operator_holds'));

const insert = (prefix: string, count: number, more: object = {}) =>
  onServer(journal.url, (client) =>
    insertBacklog(client, {
      ...journal.owner,
      sessionId: journal.sessionId,
      prefix,
      count,
      ...more,
    }),
  );

const claim = (limit = 100, generation = 1, which?: 'money') =>
  store.take('alpha', { generation, limit, which });
const take = async (...args: Parameters<typeof claim>) => (await claim(...args)).taken;
const idsOf = (taken: readonly TakenDelivery[]) =>
  taken.map(({ transactionId }) => transactionId).toSorted();

const list = async (state: DeliveryState) =>
  (await deliveryAdmin.list({ state })).items.map(({ transactionId }) => transactionId);

async function columns(transactionId: string) {
  const [row] = await rows<{ state: string; due_in: number; attempts: number }>(
    `SELECT state, attempts,
            extract(epoch FROM next_attempt_at - clock_timestamp())::float8 AS due_in
       FROM deliveries WHERE transaction_id = '${transactionId}'`,
  );
  return row;
}
async function rows<Row extends object>(text: string): Promise<Row[]> {
  return await onServer(journal.url, async (client) => (await client.query(text)).rows);
}
const inSeconds = (column: string, seconds: number) =>
  `${column} = clock_timestamp() + interval '${seconds} s'`;

/** What happens to a claimed delivery whose wallet did not answer. */
const giveUp = (taken: TakenDelivery, retryInMs: number) =>
  bets.finish({
    ...{ ...taken, bet: undefined, change: {}, confirmAfterMs: 60_000 },
    attempt: {
      ...{ startedAtMs: Date.now(), result: 'timeout', trace: { sent: true, latencyMs: 5 } },
      ...{ error: 'no answer', answer: undefined },
    },
    delivery: {
      kind: 'after',
      after: { kind: 'pending', retryInMs },
      purpose: 'promise',
      promisedTime: taken.transactionTime,
      isCounted: true,
    },
    caller: undefined,
  });

describe('taking', () => {
  it('hands over what a call needs, and counts the attempt', async () => {
    await insert('one', 1);
    const [taken] = await take();
    expect(taken).toMatchObject({
      operation: 'rollback',
      purpose: 'promise',
      transactionId: 'one-1',
      attempts: 1,
      isOverdue: false,
      bet: { rollback: { kind: 'promised' }, late: undefined, sessionId: journal.sessionId },
      owner: journal.owner,
    });
    expect(taken?.body?.toString()).toContain('"transactionId":"one-1"');
    expect(taken?.sealedToken?.sealed.toString()).toBe('operator-token');
    expect((await journal.state('one-1'))?.busy).toBe('rollback');
  });

  it('takes what is due, oldest first, and no more than asked for', async () => {
    await insert('later', 3, { firstDueInMs: 60_000 });
    await insert('due', 5, { firstDueInMs: -5_000, apartMs: 1_000 });
    expect(idsOf(await take(2))).toEqual(['due-1', 'due-2']);
    expect(idsOf(await take())).toEqual(['due-3', 'due-4', 'due-5']);
    expect(await take()).toEqual([]);
  });

  it('never gives one delivery to two, however many ask at once (I5)', async () => {
    await insert('many', 300);
    const batches = await Promise.all(Array.from({ length: 12 }, () => take(50)));
    const ids = idsOf(batches.flat());
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await take(300);
    expect(ids.length + rest.length).toBe(300);
  });

  it('leases: what is not finished is due again after the lease, not before (I4)', async () => {
    await insert('leased', 1);
    await take();
    expect((await columns('leased-1'))?.due_in).toBeGreaterThan(10);
    await journal.sql(`UPDATE bets SET ${inSeconds('busy_until', 0)}`);
    await journal.sql(`UPDATE deliveries SET ${inSeconds('next_attempt_at', 0)}`);
    expect(await take()).toEqual([]);
    expect(await bets.recoverLapsed(10)).toMatchObject([{ transactionId: 'leased-1' }]);
    expect(await take()).toMatchObject([{ transactionId: 'leased-1', attempts: 2 }]);
  });

  it('leaves bets of an older wallet alone until they are released to this one', async () => {
    await insert('old', 1, { generation: 1 });
    await insert('new', 1, { generation: 2 });
    await deliveryAdmin.release('alpha', { upTo: 9, to: 1 }, BY);
    expect(idsOf(await take(10, 2))).toEqual(['new-1']);
    expect(await list('held')).toEqual(['old-1']);
    await deliveryAdmin.release('alpha', { upTo: 2, to: 2 }, BY);
    // Not even for a process that does not know the new wallet yet (I4).
    expect(await take(10, 1)).toEqual([]);
    expect((await columns('old-1'))?.due_in).toBeLessThanOrEqual(60);
    await journal.sql(`UPDATE deliveries SET ${inSeconds('next_attempt_at', 0)}`);
    expect(idsOf(await take(10, 2))).toEqual(['old-1']);
    expect(await list('held')).toEqual([]);
  });

  it('leaves bets of a newer wallet alone until they are released, or it knows that wallet', async () => {
    await insert('newer', 2, { generation: 2 });
    await insert('own', 1, { generation: 1 });
    expect(idsOf(await take(10, 1))).toEqual(['own-1']);
    expect(await list('held')).toEqual(['newer-1', 'newer-2']);
    // For a process that has read of the new wallet by then.
    expect((await columns('newer-1'))?.due_in).toBeLessThanOrEqual(60);
    await journal.sql(
      `UPDATE deliveries SET ${inSeconds('next_attempt_at', 0)} WHERE transaction_id = 'newer-1'`,
    );
    expect(idsOf(await take(10, 2))).toEqual(['newer-1']);
    await deliveryAdmin.release('alpha', { upTo: 2, to: 1 }, BY);
    expect(idsOf(await take(10, 1))).toEqual(['newer-2']);
    expect(await list('held')).toEqual([]);
  });

  it('puts bets of an older wallet aside, so that they clog nothing (I7)', async () => {
    await insert('old', 50, { generation: 1 });
    await insert('new', 1, { generation: 2 });
    const looks = [];
    for (let look = 0; look < 6; look += 1) looks.push(await claim(10, 2));
    expect(idsOf(looks.flatMap(({ taken }) => taken))).toEqual(['new-1']);
    // Each look puts some of them aside, and only the last finds nothing at all.
    expect(looks.map(({ isDry }) => isDry)).toEqual([false, false, false, false, false, false]);
    expect(await claim(10, 2)).toMatchObject({ taken: [], isDry: true });
    expect((await list('held')).length).toBe(50);
    // Neither a wallet that is back nor one that is probed wakes them.
    expect(await store.wake('alpha', 100)).toBe(0);
    await store.nudge('alpha');
    expect(await take(10, 2)).toEqual([]);
  });

  it('does not wait for a bet that a callback is just changing: no deadlock (I1)', async () => {
    await insert('locked', 2);
    await onServer(journal.url, async (client) => {
      await client.query(`BEGIN; UPDATE bets SET version = 9 WHERE transaction_id = 'locked-1'`);
      expect(idsOf(await take())).toEqual(['locked-2']);
      await client.query(`UPDATE deliveries SET last_error = '' WHERE transaction_id = 'locked-1'`);
      await client.query('COMMIT');
    });
    expect(idsOf(await take())).toEqual(['locked-1']);
  });
});

describe('the order within a bet', () => {
  /** One bet: a taken-over settle that was attempted, a rollback behind it, and an update beside them. */
  beforeEach(async () => {
    await insert('bet', 3);
    await journal.sql(`UPDATE deliveries SET transaction_id = 'bet-1', operation =
      (ARRAY['settle', 'rollback', 'update'])[split_part(transaction_id, '-', 2)::int]`);
    await journal.sql(`UPDATE operations SET transaction_id = 'bet-1'`);
    await journal.sql(`UPDATE bets SET rollback = 'none'`);
  });

  it('takes one operation of a bet at a time, money before updates (I6)', async () => {
    expect(await take()).toMatchObject([{ operation: 'settle' }]);
    expect(await take()).toEqual([]);
  });

  it('lets nothing overtake a money operation, also not while that is in back-off (I6)', async () => {
    const [settle] = await take();
    if (settle !== undefined) await giveUp(settle, 60_000);
    const [update] = await take();
    expect(update?.operation).toBe('update');
    if (update !== undefined) await giveUp(update, 60_000);
    expect(await take()).toEqual([]);
  });

  it('takes no update for a half-open breaker: its outcome would not count', async () => {
    await journal.sql(`DELETE FROM deliveries WHERE operation <> 'update'`);
    expect(await take(10, 1, 'money')).toEqual([]);
    expect(await take(10, 1)).toHaveLength(1);
  });

  it('supersedes an update whose bet is rolled back instead of sending it (I6)', async () => {
    await journal.sql(`UPDATE bets SET rollback = 'promised'`);
    await journal.sql(`DELETE FROM deliveries WHERE operation <> 'update'`);
    expect(await take()).toEqual([]);
    expect((await columns('bet-1'))?.state).toBe('superseded');
  });

  it('supersedes an update that a later one of its bet has overtaken (I6)', async () => {
    await journal.sql(`DELETE FROM deliveries WHERE operation <> 'update'`);
    await journal.sql(
      `INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
       VALUES ('bet-1', 'alpha', 'update', gen_random_uuid(), '{}')`,
    );
    expect(await take()).toEqual([]);
    expect((await columns('bet-1'))?.state).toBe('superseded');
  });

  it('nudges the next that may go, never one that must wait behind another', async () => {
    await journal.sql(
      `UPDATE deliveries SET ${inSeconds('next_attempt_at', 300)} WHERE operation = 'settle'`,
    );
    await store.nudge('alpha');
    expect(await take(10, 1, 'money')).toMatchObject([{ operation: 'settle' }]);
  });
});

describe('waking an operator that is back', () => {
  it('makes due what waits for the end of a back-off, at most so many at once', async () => {
    await insert('asleep', 5, { firstDueInMs: 300_000 });
    expect(await store.wake('alpha', 3)).toBe(3);
    expect(await take()).toHaveLength(3);
    expect(await store.wake('alpha', 3)).toBe(2);
  });

  it('leaves alone what is under way, and confirmations that wait on purpose', async () => {
    await insert('busy', 1);
    await take();
    await insert('confirm', 1, { firstDueInMs: 300_000 });
    await journal.sql(
      `UPDATE deliveries SET purpose = 'confirm' WHERE transaction_id = 'confirm-1'`,
    );
    expect(await store.wake('alpha', 10)).toBe(0);
    await store.nudge('alpha');
    expect(await take()).toEqual([]);
  });
});

describe('the horizon', () => {
  const oneSecond = { horizonHours: 1 / 3600, firstDueInMs: -1_500 };

  it('is over on PostgreSQL’s clock, and the attempt after it is told to be the last', async () => {
    await insert('late', 1, oneSecond);
    expect(await take()).toMatchObject([{ isOverdue: true }]);
  });

  it('stands still for as long as the operator is held, whoever counts', async () => {
    await store.countHeld(['alpha']);
    await insert('late', 1, oneSecond);
    await journal.sql(`UPDATE operator_holds SET counted_at = counted_at - interval '2 s'`);
    await Promise.all(Array.from({ length: 5 }, () => store.countHeld(['alpha', 'beta'])));
    const [hold] = await rows<{ held_ms: string }>(
      `SELECT held_ms FROM operator_holds WHERE operator_id = 'alpha'`,
    );
    expect(Number(hold?.held_ms)).toBeGreaterThanOrEqual(2_000);
    // Counted by one of five: counted by two it would be 4 s.
    expect(Number(hold?.held_ms)).toBeLessThan(4_000);
    expect(await take()).toMatchObject([{ isOverdue: false }]);
  });
});

it('tells open operators by their next due time, from one index probe each', async () => {
  await insert('a', 3, { firstDueInMs: 5_000 });
  await insert('b', 2, { operatorId: 'beta', firstDueInMs: -1_000 });
  const open = await store.openOperators();
  expect(open.map(({ operatorId }) => operatorId)).toEqual(['alpha', 'beta']);
  expect(open[0]?.nextInMs).toBeGreaterThan(3_000);
  expect(open[1]?.nextInMs).toBeLessThan(0);
});
