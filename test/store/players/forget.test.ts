import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgetPlayer } from '../../../src/store/players/forget.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { onServer, rowsOf, waitForLock } from '../../support/server.ts';

/** More than two batches. */
const BETS = 450;
/** Deliveries of other players, finished. */
const DELIVERIES = 30_000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await raw(`
    INSERT INTO players (id, operator_id, operator_user, user_id)
    VALUES (1, 'alpha', 'ann', 'user-1'), (2, 'alpha', 'bob', 'user-2');
    INSERT INTO bets (transaction_id, operator_id, player_id, generation, place, settlement,
                      place_message, rollback_message, created_at)
    SELECT 'bet-' || n, 'alpha', 1 + n % 2, 1, 'accepted', 'settled', 'dear Ann', 'sorry, Ann',
           now() - n % 7 * interval '1 hour'
      FROM generate_series(1, ${BETS * 2}) n;
    INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body, answer_body)
    SELECT transaction_id, 'alpha', operation, gen_random_uuid(), '{"name":"Ann","amount":1}',
           '{"code":5,"message":"no, Ann"}'
      FROM bets, (VALUES ('place'), ('settle')) o(operation);
    INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, error, wallet_body,
                          answer_body)
    SELECT id, 1, now(), 1, CASE operation WHEN 'place' THEN 'declined' ELSE 'bad_answer' END,
           CASE operation WHEN 'place' THEN '400 code 5: no, Ann' ELSE 'no code: Ann' END, 'Ann',
           '{"code":5,"message":"no, \\"Ann\\""}'
      FROM operations;
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, last_error,
                            transaction_time, next_attempt_at, dead_at, settled_at)
    SELECT id, 'alpha', transaction_id, operation, 'delivered', '400 code 5: no, Ann', '', now(), now(),
           now()
      FROM operations;
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, next_attempt_at, dead_at, settled_at)
    SELECT 1000000 + n, 'alpha', 'other-' || n, 'settle', 'delivered', '', now(), now(), now()
      FROM generate_series(1, ${DELIVERIES}) n;
    ANALYZE`);
}, 60_000);
afterAll(async () => {
  await database.drop();
});

const forget = async (userId: string) => {
  const prisma = createPrisma(database.url);
  try {
    return await forgetPlayer(prisma, userId, BY);
  } finally {
    await prisma.$disconnect();
  }
};

const raw = (text: string) => rowsOf(database.url, text);

const named = (playerId: number) =>
  raw(`
    SELECT count(*) FILTER (WHERE convert_from(o.body, 'UTF8') LIKE '%Ann%'
                               OR o.answer_body LIKE '%Ann%')::int AS messages,
           count(*) FILTER (WHERE a.error LIKE '%Ann%' OR a.wallet_body IS NOT NULL
                               OR a.answer_body LIKE '%Ann%')::int AS attempts,
           count(*) FILTER (WHERE d.last_error LIKE '%Ann%')::int AS deliveries,
           count(*) FILTER (WHERE b.place_message LIKE '%Ann%'
                               OR b.rollback_message LIKE '%Ann%')::int AS bets
      FROM bets b JOIN operations o USING (transaction_id) JOIN attempts a ON a.operation_id = o.id
      JOIN deliveries d ON d.operation_id = o.id WHERE b.player_id = ${playerId}`);

it('forgets a player with very many bets, and reads nobody else’s deliveries for it', async () => {
  await raw('SELECT pg_stat_force_next_flush()');
  await raw('SELECT pg_stat_reset()');
  const counts = { bets: BETS, messages: 2 * BETS, attempts: 2 * BETS };
  expect(await forget('user-1')).toEqual({ kind: 'forgotten', ...counts });
  // What a connection has read is counted when PostgreSQL ends its process, a moment after it is closed.
  const read = () =>
    raw(`SELECT seq_tup_read::int AS scanned FROM pg_stat_user_tables
          WHERE relname = 'deliveries' AND idx_scan > 0`);
  // Before version 17, PostgreSQL considers it cheaper to read the whole of so small a table.
  const [server] = await raw(`SELECT current_setting('server_version_num')::int AS version`);
  if (Number(server?.version) >= 170_000) {
    await expect.poll(read).toEqual([{ scanned: 0 }]);
  }
  expect(await named(1)).toEqual([{ messages: 0, attempts: 0, deliveries: 0, bets: 0 }]);
  const kept = `SELECT DISTINCT a.error, a.answer_body FROM attempts a JOIN operations o ON o.id = a.operation_id
                  JOIN bets b USING (transaction_id) WHERE b.player_id = 1 ORDER BY a.error`;
  expect(await raw(kept)).toEqual(
    ['***', '400 code 5'].map((error) => ({ error, answer_body: '{"code":5,"message":"***"}' })),
  );
  const all = 2 * BETS;
  expect(await named(2)).toEqual([{ messages: all, attempts: all, deliveries: all, bets: all }]);
});

it('forgets no player of whom a dead letter waits for a person', async () => {
  const one = `WHERE operation = 'settle' AND transaction_id = 'bet-1'`;
  await raw(`UPDATE deliveries SET state = 'dead' ${one}`);
  const dead = await forget('user-2');
  await raw(`UPDATE deliveries SET state = 'delivered' ${one}`);
  expect(dead).toEqual({ kind: 'open', transactionIds: ['bet-1'] });
});

it('leaves a bet alone that is placed while it goes through the others', async () => {
  const forgotten = await onServer(database.url, async (client) => {
    await client.query('BEGIN');
    await client.query(`SELECT FROM operations WHERE transaction_id =
      (SELECT transaction_id FROM bets WHERE player_id = 2 ORDER BY created_at LIMIT 1) FOR UPDATE`);
    const forgetting = forget('user-2');
    await waitForLock(database.url);
    await client.query(`
      INSERT INTO bets (transaction_id, operator_id, player_id, generation, place)
      VALUES ('young', 'alpha', 2, 1, 'unknown');
      INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
      VALUES ('young', 'alpha', 'place', gen_random_uuid(), '{"name":"Ann","amount":1}');
      COMMIT`);
    return await forgetting;
  });
  expect(forgotten).toMatchObject({ kind: 'forgotten', bets: BETS });
  expect(
    await raw(`SELECT convert_from(body, 'UTF8') AS body FROM operations
                WHERE transaction_id = 'young'`),
  ).toEqual([{ body: '{"name":"Ann","amount":1}' }]);
});
