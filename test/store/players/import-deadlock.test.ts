import { Client } from 'pg';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { PlayerTakeover } from '../../../src/store/sessions/player-takeover.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { waitForLock } from '../../support/server.ts';

let database: TestDatabase;
/** Writes new players in another order, as an operator's batch of bonuses may. */
let batch: Client;
beforeAll(async () => {
  database = await createDatabase();
  batch = new Client({ connectionString: database.url });
  await batch.connect();
});
afterAll(async () => {
  await batch.end();
  await database.drop();
});

const insert = (user: string) =>
  batch.query(
    `INSERT INTO players (operator_id, operator_user, user_id) VALUES ('alpha', $1, 'new-' || $1)
     ON CONFLICT (operator_id, operator_user) DO NOTHING`,
    [user],
  );

it('an import that PostgreSQL ends for a deadlock with a batch of bonuses is tried again', async () => {
  const takeover = await PlayerTakeover.open(database.url, { dryRun: false });
  // So that the import finds the deadlock, and not the batch.
  await batch.query(`BEGIN; SET LOCAL deadlock_timeout = '1min'`);
  await insert('bob');
  const lines = ['ann', 'bob', 'cid'].map((operatorUser, index) => ({
    ...{ number: index + 1, operatorId: 'alpha', operatorUser, userId: `old-${operatorUser}` },
  }));
  onTestFinished(() => takeover.close());
  const taking = takeover.take(lines);
  await waitForLock(database.url);
  await insert('ann');
  await batch.query('COMMIT');
  const has = (user: string) => ({
    kind: 'conflict',
    why: `alpha's ${user} has the userId new-${user} already`,
  });
  expect(await taking).toEqual([has('ann'), has('bob'), { kind: 'imported' }]);
});
