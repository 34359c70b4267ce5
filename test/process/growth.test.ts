import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createOperator } from '../../tools/simulator/operator.ts';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

/** Enough that PostgreSQL scans no such table if it has an index. */
const BETS = 30_000;
const PATIENT = { timeout: 30_000, interval: 100 };

/** Tables with many rows that were scanned. The coming months are empty. */
const SCANS = `
  SELECT relname AS table, seq_scan::int AS scans, seq_tup_read::int AS rows
    FROM pg_stat_user_tables WHERE seq_tup_read >= ${BETS} ORDER BY relname`;

/**
 * Indexes that were scanned: one whose condition is not selective is read like a table. All sessions here have
 * tokens that no key has sealed, which are searched page by page.
 */
const INDEX_SCANS = `
  SELECT indexrelname AS index, idx_scan::int AS scans, idx_tup_read::int AS rows
    FROM pg_stat_user_indexes
   WHERE idx_tup_read >= ${BETS} AND indexrelname <> 'sessions_seal_mark_idx' ORDER BY indexrelname`;

describe('a journal of very many bets', { timeout: 120_000 }, () => {
  let deployment: Deployment;
  let replica: Replica;
  let service: SimulatedService;

  beforeAll(async () => {
    deployment = await openDeployment({
      gateway: { delivery: { confirmUnknownAfterMs: 500 } },
      operators: { alpha: { wallet: { timeoutMs: 500 } } },
    });
    const first = await deployment.replica();
    // Creates the month's tables, and ends before they are filled.
    await deployment.player(first.baseUrl);
    await first.process.stop();
    await fill(deployment);
    replica = await deployment.replica();
    service = createService({ baseUrl: replica.baseUrl, secret: SERVICE_SECRET, retryScale: 0.01 });
  }, 120_000);
  afterAll(async () => {
    await service.close();
    await deployment.close();
  });

  it('is never scanned, whatever becomes of a bet: each row is found by an index', async () => {
    // What this connection has read to fill them is counted a second later, unless this is called.
    await deployment.query('SELECT pg_stat_force_next_flush()');
    await deployment.query('SELECT pg_stat_reset()');
    const player = await deployment.player(replica.baseUrl);
    const cid = 'alpha-key';
    const secret = 'alpha-api-secret-that-is-long-enough';
    const operator = createOperator({ baseUrl: replica.baseUrl, cid, secret });
    const wallet = deployment.wallet('alpha');
    const place = async (transactionId?: string) =>
      (await service.place({ ...player, amount: '1', ...(transactionId && { transactionId }) }))
        .transactionId;
    await service.profile(player.token);
    await service.balance(player);

    const settled = await place();
    const won = { amount: '2', resultType: 'won' } as const;
    for (const result of [won, { ...won, amount: '3' }, won]) await service.settle(settled, result);
    await service.update(settled, '1.9');
    await service.unsettle(settled);
    await service.rollback(settled);
    await service.rollback(settled);
    await service.settle(await place(), { amount: '1.5', resultType: 'cashout' });
    await operator.bet(settled);

    // Unknown to the gateway, without an answer, and due later.
    await service.rollback(service.slip({ ...player, amount: '1' }).transactionId);
    wallet.misbehave('any', { kind: 'hang' });
    const left = await service.place({ ...player, amount: '1' });
    if (left.kind === 'failed') await left.rollback;
    wallet.behave();
    await service.idle();
    await expect.poll(pending, PATIENT).toBe(0);
    await operator.revokeSessions({ token: player.token });
    await place();
    await operator.close();

    // The counts of a process are final once its connections have ended.
    await replica.process.stop();
    await vi.waitFor(async () => expect(await connections()).toBe(0), PATIENT);
    expect(await deployment.query(SCANS)).toEqual([]);
    expect(await deployment.query(INDEX_SCANS)).toEqual([]);
  });

  async function pending(): Promise<number> {
    const open = `state IN ('live', 'pending') AND transaction_id NOT LIKE 'bet-%'`;
    const [row] = await deployment.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM deliveries WHERE ${open}`,
    );
    return row?.n ?? 0;
  }

  async function connections(): Promise<number> {
    const [row] = await deployment.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity
        WHERE datname = current_database() AND application_name LIKE 'wagergate%'`,
    );
    return row?.n ?? 0;
  }
});

/** Settled bets of the last month, each with its operations, attempts, movements and a delivery. */
async function fill(deployment: Deployment): Promise<void> {
  await deployment.query(
    `INSERT INTO players (operator_id, operator_user, user_id)
     SELECT 'alpha', 'user-' || n, 'id-' || n FROM generate_series(1, ${BETS}) n`,
  );
  await deployment.query(
    `INSERT INTO sessions (operator_id, player_id, currency, ordinal, token_hash,
                           operator_token_hash, operator_token, expires_at)
     SELECT 'alpha', id, 'USD', 1, decode(md5(user_id), 'hex'), decode(md5(user_id), 'hex'), 'token',
            now() + interval '1 day'
       FROM players WHERE user_id LIKE 'id-%'`,
  );
  await deployment.query(
    `INSERT INTO bets (transaction_id, operator_id, player_id, amount, currency, generation, place,
                       place_time, settlement, settlement_amount, settlement_type, settlement_time)
     SELECT 'bet-' || n, 'alpha', p.id, '10.50', 'USD', 1, 'accepted', 't', 'settled', '21', 'won', 't'
       FROM generate_series(1, ${BETS}) n JOIN players p ON p.user_id = 'id-' || n`,
  );
  for (const operation of ['place', 'settle', 'rollback']) {
    await deployment.query(
      `WITH op AS (
         INSERT INTO operations (transaction_id, operator_id, operation, attempt_id, body)
         SELECT 'bet-' || n, 'alpha', $1, gen_random_uuid(), '{}' FROM generate_series(1, ${BETS}) n
         RETURNING id, transaction_id
       ), tried AS (
         INSERT INTO attempts (operation_id, number, started_at, latency_ms, result, confirmed)
         SELECT id, 1, clock_timestamp(), 20, 'accepted', false FROM op
       )
       INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                               transaction_time, next_attempt_at, dead_at)
       SELECT id, 'alpha', transaction_id, $1, 'delivered', 't', now(), now()
         FROM op WHERE $1 = 'rollback'`,
      [operation],
    );
  }
  await deployment.query(
    `INSERT INTO books_movements (transaction_id, sequence, operator_id, player_id, currency, kind,
                                  amount, is_freebet, opens, open_stake, operation, operation_id,
                                  number, written_in, confirmed_at, belongs_to, day)
     SELECT b.transaction_id, 1, 'alpha', b.player_id, 'USD', 'stake', -10.5, false, 1, 10.5, 'place',
            o.id, 1, '1', now() - interval '9 days', current_date - 9, current_date - 9
       FROM bets b JOIN operations o ON o.transaction_id = b.transaction_id AND o.operation = 'place'`,
  );
  await deployment.query(
    `UPDATE books_cursor c
        SET written_in = '1', operation_id = m.id, number = 1, time_zone = 'UTC',
            checked_in = '1', checked_operation_id = m.id, checked_number = 1
       FROM (SELECT max(operation_id) AS id FROM books_movements) m`,
  );
  await deployment.query('ANALYZE');
}
