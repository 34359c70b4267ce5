import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { LOOK } from '../../../src/store/deliveries/claim-statements.ts';
import { DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import type { Statement } from '../../../src/store/sql/statement.ts';
import { insertBacklog } from '../../deliveries/support/backlog.ts';
import { openTestJournal, type TestJournal } from '../../support/journal.ts';
import { onServer, rowsOf } from '../../support/server.ts';

/** What happens between the look at what is due and the claim. */
let meanwhile: () => Promise<unknown> = async () => undefined;

class InterruptedDatabase extends Database {
  protected override async query(...[statement, values]: Parameters<Database['query']>) {
    const rows = await super.query(statement, values);
    if (isLook(statement)) await meanwhile();
    return rows;
  }
}
const isLook = ({ name }: Statement) => name === LOOK.name;

let journal: TestJournal;
let store: DeliveryStore;
beforeAll(async () => {
  journal = await openTestJournal(
    (url) => new InterruptedDatabase({ url, connectionsMax: 4, onIdleError: () => undefined }),
  );
  store = new DeliveryStore(journal.database);
});
afterAll(() => journal.close());
beforeEach(async () => {
  meanwhile = async () => undefined;
  await journal.sql('TRUNCATE bets, operations, attempts, deliveries, operator_holds');
});

/** Due rollbacks, a second apart: `bet-1`, `bet-2`. */
const insert = (count: number, generation = 1) =>
  onServer(journal.url, (client) =>
    insertBacklog(client, {
      ...{ ...journal.owner, sessionId: journal.sessionId, prefix: 'bet', count, generation },
      ...{ firstDueInMs: -60_000, apartMs: 1_000 },
    }),
  );
const deliveries = () =>
  rowsOf(
    journal.url,
    `SELECT transaction_id AS bet, state, attempts, held, next_attempt_at <= now() AS due
       FROM deliveries ORDER BY id`,
  );
const claim = (limit = 10, generation = 1) => store.take('alpha', { generation, limit });

const UNTOUCHED = { bet: 'bet-1', state: 'pending', attempts: 0, held: false, due: true };

describe('after the look, a claim takes nothing', () => {
  it.each([
    ['of a bet that has changed (I6)', `UPDATE bets SET version = version + 1`],
    [
      'of a bet that has become busy (I6)',
      `UPDATE bets SET busy_attempt = gen_random_uuid(), busy_operation = 'settle', busy_until = now()`,
    ],
    [
      'of an operator that a person holds by then (I4)',
      `INSERT INTO operator_holds (operator_id, counted_at, hold_since) VALUES ('alpha', now(), now())`,
    ],
    [
      'of an operator whose bets were released to another wallet by then (I4)',
      `INSERT INTO operator_holds (operator_id, counted_at, released, released_to) VALUES ('alpha', now(), 2, 2)`,
    ],
  ])('%s', async (_, text) => {
    await insert(1);
    meanwhile = () => journal.sql(text);
    expect(await claim()).toEqual({ taken: [], unreadable: [], isDry: true });
    expect(await deliveries()).toEqual([UNTOUCHED]);
  });

  it('that has ended', async () => {
    await insert(1);
    meanwhile = () => journal.sql(`UPDATE deliveries SET state = 'superseded'`);
    expect(await claim()).toMatchObject({ taken: [], isDry: true });
    expect((await journal.state('bet-1'))?.busy).toBeNull();
  });

  it('and holds nothing that was released to this wallet meanwhile', async () => {
    await insert(1);
    meanwhile = () =>
      journal.sql(
        `INSERT INTO operator_holds (operator_id, counted_at, released, released_to)
         VALUES ('alpha', now(), 2, 2) ON CONFLICT DO NOTHING`,
      );
    expect((await claim(10, 2)).taken).toEqual([]);
    expect(await deliveries()).toEqual([UNTOUCHED]);
    expect((await claim(10, 2)).taken).toHaveLength(1);
  });
});

it('a delivery whose horizon a person begins anew after the look is not at its last attempt', async () => {
  await insert(1);
  await journal.sql(`UPDATE deliveries SET dead_at = next_attempt_at`);
  meanwhile = () => journal.sql(`UPDATE deliveries SET dead_at = now() + interval '1 hour'`);
  expect((await claim()).taken).toMatchObject([{ isOverdue: false }]);
});

it('bets that others have locked keep nobody waiting behind them, however few are claimed (I7)', async () => {
  await insert(4);
  await onServer(journal.url, async (client) => {
    await client.query(
      `BEGIN; SELECT FROM bets WHERE transaction_id IN ('bet-1', 'bet-2') FOR UPDATE`,
    );
    const { taken } = await claim(1);
    expect(taken.map(({ transactionId }) => transactionId)).toEqual(['bet-3']);
    await client.query('ROLLBACK');
  });
});

it('a nudge is not used up by bets of an older wallet that are not held yet: a look holds each (I7)', async () => {
  await insert(4);
  await journal.sql(`UPDATE bets SET generation = 2 WHERE transaction_id = 'bet-4'`);
  await journal.sql(`UPDATE deliveries SET next_attempt_at = next_attempt_at + interval '1 hour'`);
  const probed = [];
  for (let look = 0; look < 4; look += 1) {
    await store.nudge('alpha');
    probed.push(...(await claim(1, 2)).taken);
  }
  expect(probed.map(({ transactionId }) => transactionId)).toEqual(['bet-4']);
  expect((await deliveries()).map(({ held }) => held)).toEqual([true, true, true, false]);
});

it('a delivery that cannot be read is put off, and leaves its bet free: the others are claimed (I4)', async () => {
  await insert(2);
  await journal.sql(`UPDATE bets SET settlement = 'settled' WHERE transaction_id = 'bet-1'`);
  const { taken, unreadable } = await claim();
  expect(taken.map(({ transactionId }) => transactionId)).toEqual(['bet-2']);
  expect(unreadable).toMatchObject([{ transactionId: 'bet-1' }]);
  expect((await journal.state('bet-1'))?.busy).toBeNull();
  expect((await deliveries())[0]).toEqual({ ...UNTOUCHED, due: false });
});

it('a claim hands over the bet as it left it: busy, and of the wallet that is asked', async () => {
  await insert(1, 0);
  const { taken } = await claim(10, 3);
  const [{ attemptId = '', bet = undefined } = {}] = taken;
  expect(bet).toMatchObject({
    ...{ generation: 3, version: 2 },
    busy: { operation: 'rollback', attemptId, lapsed: false },
  });
  const rows = await rowsOf(journal.url, 'SELECT generation, version, busy_attempt FROM bets');
  expect(rows).toEqual([{ generation: 3, version: 2, busy_attempt: attemptId }]);
});
