import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import type { Database } from '../../../src/store/database.ts';
import { Backlog, type BacklogLook } from '../../../src/store/deliveries/backlog.ts';
import { BacklogCounts } from '../../../src/store/deliveries/backlog-counts.ts';
import { DEAD_PIECES, WAITING_PIECES } from '../../../src/store/deliveries/backlog-statements.ts';
import { type DeliveryRow, insertDelivery } from '../../support/deliveries.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { partly } from '../../support/partly.ts';
import { onServer } from '../../support/server.ts';

/** A look reads ten entries at a time, and twice more for operators with at least four. */
const SIZES = { pieceRows: 10, firstRows: 4, furtherPiecesMax: 2 };

let journal: TestJournal;
beforeAll(async () => {
  journal = await openTestJournal();
});
afterAll(() => journal.close());
beforeEach(() => journal.sql('TRUNCATE bets, operations, attempts, deliveries'));

const insert = (row: DeliveryRow, times = 1) =>
  onServer(journal.url, async (client) => {
    for (let n = 0; n < times; n += 1) await insertDelivery(client, row);
  });

const backlogOf = (pieces = WAITING_PIECES, database: Pick<Database, 'run'> = journal.database) =>
  new Backlog({
    ...{ database: partly<Database>(database), clock: systemClock, pieces, sizes: SIZES },
  });

/** `operator operation state` with its count; `+` if there may be more. */
function numbers({ counts }: Pick<BacklogLook, 'counts'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    counts.map(({ operator, operation, state, count, isAtLeast }) => [
      `${operator} ${operation} ${state}`,
      `${count}${isAtLeast ? '+' : ''}`,
    ]),
  );
}

describe('backlogs of a usual size', () => {
  it('are counted again at every look, by operator, operation and state', async () => {
    await insert({ operator: 'alpha' }, 3);
    await insert({ operator: 'alpha', operation: 'settle' });
    await insert({ operator: 'alpha', state: 'delivered' });
    await insert({ operator: 'beta', state: 'dead' }, 2);
    await insert({ operator: 'gamma' });
    await journal.sql(`UPDATE deliveries SET held = true WHERE operator_id = 'gamma'`);
    const [waiting, dead] = [backlogOf(), backlogOf(DEAD_PIECES)];
    expect(numbers(await waiting.look())).toEqual({
      ...{ 'alpha rollback pending': '3', 'alpha settle pending': '1', 'gamma rollback held': '1' },
    });
    expect(numbers(await dead.look())).toEqual({ 'beta rollback dead': '2' });
    await journal.sql(`DELETE FROM deliveries WHERE operator_id = 'alpha'`);
    expect(numbers(await waiting.look())).toEqual({ 'gamma rollback held': '1' });
  });

  it('are whole where they fill several pieces, or one exactly', async () => {
    await insert({ operator: 'alpha' }, 3);
    await insert({ operator: 'beta' }, 7);
    await insert({ operator: 'gamma' }, 3);
    await insert({ operator: 'omega' }, 7);
    expect(numbers(await backlogOf().look())).toEqual({
      ...{ 'alpha rollback pending': '3', 'beta rollback pending': '7' },
      ...{ 'gamma rollback pending': '3', 'omega rollback pending': '7' },
    });
  });

  it('have an age: that of promises and not of mere confirmations', async () => {
    await insert({ operator: 'alpha' });
    await insert({ operator: 'beta', purpose: 'confirm' });
    const { counts } = await backlogOf().look();
    const ages = counts.map(({ sinceMs, nowMs }) => sinceMs && Math.round((nowMs - sinceMs) / 1e5));
    expect(ages).toEqual([36, undefined]);
  });
});

describe('an operator with more than one look counts', () => {
  it('does not keep the numbers of the others from being of now (I7)', async () => {
    await insert({ operator: 'alpha' });
    await insert({ operator: 'big' }, 55);
    await insert({ operator: 'omega' }, 2);
    const backlog = backlogOf();
    const first = numbers(await backlog.look());
    expect(first).toMatchObject({ 'alpha rollback pending': '1', 'omega rollback pending': '2' });
    // Nine besides alpha's one, and two pieces.
    expect(first).toMatchObject({ 'big rollback pending': '29+' });
    await insert({ operator: 'omega' });
    expect(numbers(await backlog.look())).toMatchObject({
      ...{ 'omega rollback pending': '3', 'big rollback pending': '49+' },
    });
    expect(numbers(await backlog.look())).toMatchObject({ 'big rollback pending': '55' });
  });

  it('has none counted twice where its first entries fill more than one piece', async () => {
    await insert({ operator: 'alpha' }, 8);
    await insert({ operator: 'big' });
    // Only after those that end the first piece.
    await insert({ operator: 'big', operation: 'settle' });
    await insert({ operator: 'big' }, 15);
    expect(numbers(await backlogOf().look())).toMatchObject({
      ...{ 'big rollback pending': '16', 'big settle pending': '1' },
    });
  });

  it('keeps its number until it has been counted again to the end', async () => {
    await insert({ operator: 'big' }, 45);
    const backlog = backlogOf();
    expect(numbers(await backlog.look())).toEqual({ 'big rollback pending': '30+' });
    expect(numbers(await backlog.look())).toEqual({ 'big rollback pending': '45' });
    await journal.sql(
      `UPDATE deliveries SET state = 'delivered'
        WHERE id IN (SELECT id FROM deliveries ORDER BY id DESC LIMIT 5)`,
    );
    await insert({ operator: 'big', operation: 'settle' });
    expect(numbers(await backlog.look())).toEqual({ 'big rollback pending': '45' });
    expect(numbers(await backlog.look())).toEqual({
      ...{ 'big rollback pending': '40', 'big settle pending': '1' },
    });
    await journal.sql(`DELETE FROM deliveries WHERE operation = 'rollback'`);
    expect(numbers(await backlog.look())).toEqual({ 'big settle pending': '1' });
  });

  it('is counted on in turn with others like it', async () => {
    await insert({ operator: 'big' }, 60);
    await insert({ operator: 'huge' }, 35);
    const backlog = backlogOf();
    const looks = [];
    for (let n = 0; n < 4; n += 1) looks.push(numbers(await backlog.look()));
    expect(looks).toMatchObject([
      { 'big rollback pending': '20+', 'huge rollback pending': '20+' },
      { 'big rollback pending': '30+', 'huge rollback pending': '30+' },
      { 'big rollback pending': '40+', 'huge rollback pending': '35' },
      { 'big rollback pending': '50+', 'huge rollback pending': '35' },
    ]);
  });

  it('shows the age of its oldest of each operation, wherever that stands (I4)', async () => {
    await insert({ operator: 'big', operation: 'update' }, 25);
    await insert({ operator: 'big' });
    await journal.sql(
      `UPDATE deliveries SET created_at = now() - interval '30 minutes' WHERE operation = 'update'`,
    );
    const { counts } = await backlogOf().look();
    const ages = counts.map(({ operation, sinceMs = 0, nowMs }) => [
      operation,
      Math.round((nowMs - sinceMs) / 60_000),
    ]);
    expect(Object.fromEntries(ages)).toEqual({ update: 30, rollback: 60 });
  });

  it('that cannot be counted on is told, and what was counted stands (I7)', async () => {
    await insert({ operator: 'big' }, 25);
    await insert({ operator: 'omega' });
    const tooSlow = new Error('took too long');
    let isSlow = true;
    const run = (async (statement, input) => {
      if (isSlow && statement.name === WAITING_PIECES.after.name) throw tooSlow;
      return await journal.database.run(statement, input);
    }) satisfies Database['run'];
    const backlog = backlogOf(WAITING_PIECES, { run });
    const look = await backlog.look();
    expect(look.failure).toEqual({ error: tooSlow });
    expect(numbers(look)).toEqual({ 'big rollback pending': '10+', 'omega rollback pending': '1' });
    isSlow = false;
    expect(numbers(await backlog.look())).toMatchObject({ 'big rollback pending': '25' });
  });

  it('is counted once for two who ask at the same time', async () => {
    await insert({ operator: 'big' }, 25);
    const backlog = backlogOf();
    const [one, other] = await Promise.all([backlog.look(), backlog.look()]);
    expect(other).toBe(one);
    expect(numbers(one)).toEqual({ 'big rollback pending': '25' });
  });
});

it('has its live, waiting, dead and unresolved ones counted, by operator', async () => {
  await insert({ operator: 'alpha' }, 2);
  await insert({ operator: 'beta', state: 'dead' });
  await insert({ operator: 'beta', state: 'live', transactionId: 'busy' });
  await journal.sql(
    `UPDATE bets SET busy_operation = 'rollback', busy_attempt = gen_random_uuid(),
                     busy_until = now() + interval '15 seconds' WHERE transaction_id = 'busy'`,
  );
  await journal.sql(
    `INSERT INTO bets (transaction_id, operator_id, generation, place, rollback, place_answered_unknown)
     VALUES ('unresolved', 'beta', 1, 'unknown', 'none', false),
            ('told-100', 'gamma', 1, 'accepted', 'none', true),
            ('rolled-back', 'beta', 1, 'unknown', 'promised', false)`,
  );
  const counts = new BacklogCounts(journal.database, systemClock);
  const { live, waiting, dead, unresolved, failures } = await counts.look();
  expect(failures).toEqual([]);
  expect(numbers({ counts: [...live, ...waiting, ...dead] })).toEqual({
    ...{ 'alpha rollback pending': '2', 'beta rollback dead': '1', 'beta rollback live': '1' },
  });
  expect(numbers({ counts: unresolved })).toEqual({
    ...{ 'beta place unresolved': '1', 'gamma place unresolved': '1' },
  });
});
