import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { onRedis } from '../support/redis.ts';
import { onServer } from '../support/server.ts';
import { PATIENT_MS } from '../support/timing.ts';
import { insertBacklog } from './support/backlog.ts';
import { sql } from './support/deliveries.ts';

let gateway: TestGateway;
beforeAll(async () => {
  const patient = { breaker: { minRequests: 100_000 } };
  gateway = await startTestGateway({
    worker: true,
    gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 500 } },
    operators: {
      alpha: { wallet: patient },
      beta: { wallet: patient },
      brisk: { delivery: { ratePerSecond: 25, concurrency: 2 } },
    },
  });
});
afterAll(() => gateway.close());

interface Due {
  readonly count: number;
  readonly firstDueInMs?: number;
  readonly apartMs?: number;
}

/** Promised rollbacks of one operator, written directly to the database. */
async function insert(operatorId: string, prefix: string, due: Due): Promise<void> {
  await gateway.player({ operatorId, user: `${operatorId}-user` });
  const [player] = await sql<{ playerId: string; userId: string; sessionId: string }>(
    gateway,
    `SELECT p.id AS "playerId", p.user_id AS "userId", s.id AS "sessionId"
       FROM players p JOIN sessions s ON s.player_id = p.id
      WHERE p.operator_id = $1 AND p.operator_user = $2`,
    [operatorId, `${operatorId}-user`],
  );
  if (player === undefined) throw new Error('no player');
  await onServer(gateway.databaseUrl, (client) =>
    insertBacklog(client, { operatorId, ...player, prefix, ...due }),
  );
}

/** From when each was due until its first call, in milliseconds, shortest first. */
async function lagsMs(prefix: string): Promise<readonly number[]> {
  const rows = await sql<{ ms: number }>(
    gateway,
    `SELECT extract(epoch FROM min(a.started_at) - d.created_at)::float8 * 1000 AS ms
       FROM deliveries d JOIN attempts a ON a.operation_id = d.operation_id
      WHERE d.transaction_id LIKE $1 || '-%' GROUP BY d.id, d.created_at ORDER BY 1`,
    [prefix],
  );
  return rows.map(({ ms }) => ms);
}

async function untilDelivered(operatorId: string, prefix: string, count: number): Promise<void> {
  const wallet = gateway.wallet(operatorId);
  // Each query of the journal goes through the whole backlog.
  await wallet.waitFor(() => wallet.requests.length >= count, 2 * PATIENT_MS);
  await vi.waitFor(async () => expect(await lagsMs(prefix)).toHaveLength(count), {
    timeout: PATIENT_MS,
    interval: 100,
  });
}

describe('a long backlog behind a wallet that hangs', () => {
  it('delays nobody else, and gets no more calls than its concurrency (I7)', async () => {
    const wallet = gateway.wallet('alpha');
    let callsMax = 0;
    const inFlight = () => gateway.parts.wallets.get('alpha')?.inFlight('money') ?? 0;
    // Its calls hang for seconds, so sampling misses none of them.
    const sampling = setInterval(() => {
      callsMax = Math.max(callsMax, inFlight());
    }, 10);
    wallet.misbehave('rollback', { kind: 'hang' });
    await insert('alpha', 'stuck', { count: 3_000 });
    await wallet.waitFor(() => wallet.requests.length >= 8);

    // Long enough for alpha's calls to time out, and for the search for stuck drains to run.
    const count = 100;
    await insert('beta', 'flowing', { count, firstDueInMs: 100, apartMs: 25 });
    await untilDelivered('beta', 'flowing', count);
    clearInterval(sampling);
    expect(callsMax).toBe(8);

    // Redis holds a job per operator, not one per delivery.
    const keys = await onRedis(gateway.redisUrl, (redis) => redis.dbsize());
    expect(keys).toBeLessThan(50);
    // Only deliveries that are being called are claimed: the rest stay free for the service's operations.
    const [claimed] = await sql<{ count: number }>(
      gateway,
      `SELECT count(*)::int AS count FROM bets WHERE busy_attempt IS NOT NULL`,
    );
    expect(claimed?.count).toBeLessThanOrEqual(8);
    wallet.behave();
  });
});

/** By how much the first call may begin late. */
const LATE_MS = 300;
const BRISK = { operatorId: 'brisk', rate: 25, count: 50 };

describe('ratePerSecond', () => {
  const startsOf = (prefix: string) =>
    sql<{ ms: number }>(
      gateway,
      `SELECT extract(epoch FROM a.started_at)::float8 * 1000 AS ms
         FROM attempts a JOIN operations o ON o.id = a.operation_id
        WHERE o.transaction_id LIKE $1 || '-%' ORDER BY 1`,
      [prefix],
    );

  it('is held, and used', async () => {
    const { operatorId, rate, count } = BRISK;
    await insert(operatorId, operatorId, { count });
    await untilDelivered(operatorId, operatorId, count);
    const starts = (await startsOf(operatorId)).map(({ ms }) => ms);
    expect(starts).toHaveLength(count);
    // A busy machine begins single calls late, so that the next ones follow more closely: all of them count.
    const tookMs = (starts.at(-1) ?? 0) - (starts[0] ?? 0);
    expect(tookMs).toBeGreaterThan((count / rate) * 1_000 - LATE_MS);
  });
});
