import { afterAll, beforeAll, expect, it } from 'vitest';
import { BonusGrants } from '../../../src/store/bonuses/grants.ts';
import { Database } from '../../../src/store/database.ts';
import { statement } from '../../../src/store/sql/statement.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';

const PLAYERS = 50;
const OPEN_BATCHES = 60;

const FLUSH = statement('flush', {}, 'SELECT pg_stat_force_next_flush()', () => undefined);

let opened: OpenDatabase;
let database: Database;
beforeAll(async () => {
  opened = await openDatabase();
  const { client, url } = opened;
  database = new Database({ url, connectionsMax: 1, onIdleError: () => undefined });
  await client.query(`ALTER TABLE bonus_grants SET (autovacuum_enabled = false);
                      ALTER TABLE bonus_intents SET (autovacuum_enabled = false)`);
  await insertBatches(1, 400, 'done', 'issued');
  // By these statistics nothing is open.
  await client.query('VACUUM ANALYZE bonus_grants, bonus_intents');
  await insertBatches(1_001, OPEN_BATCHES, 'open', 'open');
});
afterAll(async () => {
  await database.close();
  await opened.drop();
});

async function insertBatches(from: number, count: number, state: string, grants: string) {
  const numbers = `generate_series(${from}, ${from + count - 1}) n`;
  await opened.client.query(
    `INSERT INTO bonus_intents (id, upstream_cid, operator_id, kind, body_hash, body, state, look_at,
                                answer_status, answer_body)
     SELECT n, 'account', 'alpha', 'apply', int4send(n), '{}', '${state}', now(), 200, '{}' FROM ${numbers};
     INSERT INTO bonus_grants (intent_id, upstream_cid, operator_id, template_id, user_id, state, look_at)
     SELECT n, 'account', 'alpha', 1, n || '-' || player, '${grants}', now()
       FROM ${numbers}, generate_series(1, ${PLAYERS}) player`,
  );
}

/** How many entries are read of the indexes that contain only what is open. */
async function openRead(act: (grants: BonusGrants) => Promise<unknown>): Promise<number> {
  const read = async () => {
    await database.run(FLUSH, {});
    const { rows } = await opened.client.query<{ read: string }>(
      `SELECT sum(idx_tup_read) AS read FROM pg_stat_user_indexes
        WHERE indexrelname IN ('bonus_grants_due_idx', 'bonus_grants_open_key')`,
    );
    return Number(rows[0]?.read);
  };
  const before = await read();
  await act(new BonusGrants(database));
  return (await read()) - before;
}

async function openGrant() {
  const grant = await new BonusGrants(database).claim(['account'], 1_000);
  if (grant === undefined) throw new Error('none is open');
  return grant;
}

it('looks for batches that are left open without reading all that is open for each', async () => {
  expect(await openRead(async (grants) => expect(await grants.leftOpen()).toEqual([]))).toBe(0);
});

it.each<
  [string, (grants: BonusGrants, grant: Awaited<ReturnType<typeof openGrant>>) => Promise<void>]
>([
  [
    'to be looked for again',
    (grants, { id }) => grants.lookAgain(id, { page: 2, looks: 1, delayMs: 0 }),
  ],
  ['absent', (grants, { id }) => grants.absent(id)],
  ['found', (grants, grant) => grants.found(grant, '77', '{}')],
])('notes one grant as %s without reading all that is open', async (_, note) => {
  const grant = await openGrant();
  expect(await openRead((grants) => note(grants, grant))).toBe(0);
});
