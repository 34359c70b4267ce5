import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Bet } from '../../../src/domain/bet.ts';
import { Database } from '../../../src/store/database.ts';
import { Confirmations } from '../../../src/store/deliveries/confirmations.ts';
import { FRESH } from '../../domain/support/fresh-bet.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertOperation } from '../../support/deliveries.ts';
import { waitForLock } from '../../support/server.ts';

let server: OpenDatabase;
let database: Database;
let confirmations: Confirmations;
beforeAll(async () => {
  server = await openDatabase();
  const { url } = server;
  database = new Database({ url, connectionsMax: 2, onIdleError: () => undefined });
  confirmations = new Confirmations(database);
});
afterAll(async () => {
  await database.close();
  await server.drop();
});

/** A bet with an unknown result, which a person must be told about now. */
async function unknownResult() {
  const { client } = server;
  const transactionId = randomUUID();
  const operationId = await insertOperation(client, 'settle', transactionId);
  await client.query(
    `UPDATE bets SET settlement = 'unknown', late_kind = 'several', late_at = now(),
                     confirm_left = 2, confirm_at = now()
      WHERE transaction_id = $1`,
    [transactionId],
  );
  const inDoubt = { kind: 'several' } as const;
  const late = { operation: inDoubt, atMs: 0, confirmationsLeft: 2, isConfirming: false };
  const settlement = { kind: 'unknown', attempted: inDoubt } as const;
  const bet: Bet = { ...FRESH, transactionId, version: 1, settlement, late };
  return { bet, operationId };
}

async function stateOf(transactionId: string) {
  const { rows } = await server.client.query(
    `SELECT version, confirm_left,
            (SELECT count(*)::int FROM deliveries WHERE transaction_id = $1 AND state = 'dead') AS dead
       FROM bets WHERE transaction_id = $1`,
    [transactionId],
  );
  return rows[0];
}

it('leaves a result to a person once, and moves its bet, so that nobody decides without that (I4, I6)', async () => {
  const { bet, operationId } = await unknownResult();
  expect(await confirmations.leaveToPerson(bet, operationId, undefined)).toBe(true);
  const left = { version: 2, confirm_left: 1, dead: 1 };
  expect(await stateOf(bet.transactionId)).toEqual(left);
  expect(await confirmations.leaveToPerson(bet, operationId, undefined)).toBe(false);
  expect(await stateOf(bet.transactionId)).toEqual(left);
});

it('leaves no result to a person that is being sent again at that moment', async () => {
  const { client } = server;
  const { bet, operationId } = await unknownResult();
  await client.query('BEGIN');
  await insertOperation(client, 'settle', bet.transactionId);
  const left = confirmations.leaveToPerson(bet, operationId, undefined);
  await waitForLock(server.url);
  await client.query('COMMIT');
  expect(await left).toBe(false);
  expect(await stateOf(bet.transactionId)).toEqual({ version: 2, confirm_left: 2, dead: 0 });
});

it('leaves no result to a person that is not in doubt', async () => {
  const { bet, operationId } = await unknownResult();
  const known = { ...bet, settlement: { kind: 'none' } } as const;
  expect(await confirmations.leaveToPerson(known, operationId, undefined)).toBe(false);
  expect(await stateOf(bet.transactionId)).toEqual({ version: 1, confirm_left: 2, dead: 0 });
});

it.each(['postponed', 'passed over', 'sent', 'left to a person'] as const)(
  'is not %s if the bet has changed since it was read (I6)',
  async (how) => {
    const { client } = server;
    const { bet, operationId } = await unknownResult();
    const { transactionId } = bet;
    await client.query('UPDATE bets SET version = 2 WHERE transaction_id = $1', [transactionId]);
    const rows = async () => [
      (await client.query('SELECT * FROM bets WHERE transaction_id = $1', [transactionId])).rows,
      (await client.query('SELECT * FROM deliveries WHERE transaction_id = $1', [transactionId]))
        .rows,
    ];
    const before = await rows();
    if (how === 'postponed') await confirmations.postpone(bet, 60_000);
    else if (how === 'passed over') await confirmations.skip(bet);
    else if (how === 'sent')
      await confirmations.send(bet, { operationId, inMs: 60_000, horizonMs: 60_000 });
    else await confirmations.leaveToPerson(bet, operationId, undefined);
    expect(await rows()).toEqual(before);
  },
);

it('is sent a second time as if it had never been tried (I4)', async () => {
  const { client } = server;
  const { bet, operationId } = await unknownResult();
  await confirmations.send(bet, { operationId, inMs: 60_000, horizonMs: 60_000 });
  await client.query(
    `UPDATE deliveries SET state = 'dead', attempts = 3, last_error = 'away', settled_at = now()
      WHERE operation_id = $1`,
    [operationId],
  );
  await confirmations.send(
    { ...bet, version: 2 },
    { operationId, inMs: 60_000, horizonMs: 60_000 },
  );
  const { rows } = await client.query(
    'SELECT state, attempts, last_error, settled_at FROM deliveries WHERE operation_id = $1',
    [operationId],
  );
  expect(rows).toEqual([{ state: 'pending', attempts: 0, last_error: null, settled_at: null }]);
});

it('comes in the order in which confirmations are due: none waits for ever behind others (I4)', async () => {
  const { client } = server;
  await client.query('UPDATE bets SET confirm_at = NULL');
  const [early, late, notYet] = [
    await unknownResult(),
    await unknownResult(),
    await unknownResult(),
  ].map(({ bet }) => bet.transactionId);
  const dueIn =
    'UPDATE bets SET confirm_at = now() + make_interval(secs => $2) WHERE transaction_id = $1';
  await client.query(dueIn, [notYet, 60]);
  await client.query(dueIn, [late, -1]);
  await client.query(dueIn, [early, -2]);
  const due = async (limit: number) =>
    (await confirmations.due(limit)).map(({ transactionId }) => transactionId);
  expect(await due(1)).toEqual([early]);
  expect(await due(3)).toEqual([early, late]);
});

it('is due again at once after the first was passed over, and no more after the second (I5)', async () => {
  const { bet } = await unknownResult();
  const { transactionId } = bet;
  const isDue = async () =>
    (await confirmations.due(100)).some((one) => one.transactionId === transactionId);
  expect(await confirmations.skip(bet)).toBe(true);
  expect(await isDue()).toBe(true);
  const late = bet.late && { ...bet.late, confirmationsLeft: 1 };
  expect(await confirmations.skip({ ...bet, version: 2, late })).toBe(true);
  expect(await isDue()).toBe(false);
});
