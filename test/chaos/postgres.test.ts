import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest';
import { migrate } from '../../src/store/schema/migrate.ts';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import type { EmbeddedServer } from '../../tools/embedded/server.ts';
import { compareBooks } from '../../tools/simulator/books.ts';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type Bettor, liveBet } from './support/bets.ts';
import { booksAgree } from './support/books.ts';
import { allHome, journalFaults, RETRY_SCALE } from './support/journal.ts';
import { Random } from './support/random.ts';

const LANES = 4;
const PATIENT = { timeout: 30_000, interval: 20 };

/** Each fault has its own server and gateway, so that all wait for their leases concurrently. */
describe.concurrent('a PostgreSQL that fails under concurrent bets', { timeout: 180_000 }, () => {
  it('is cut off again and again: no 200 without a commit, no promise lost (I3, I4)', (context) =>
    survives(context, async ({ proxy, bets, felt }) => {
      for (let times = 0; times < 3; times += 1) {
        proxy.reset();
        const at = bets();
        await vi.waitUntil(() => bets() >= at + LANES, PATIENT);
      }
      await proxy.cut();
      await felt();
      await proxy.restore();
    }));

  it('is frozen and thaws (I1, I3, I4)', (context) =>
    survives(context, async ({ proxy, felt }) => {
      proxy.freeze();
      await felt();
      await proxy.restore();
    }));

  it('is killed and recovers (I3, I4)', (context) =>
    survives(context, async ({ postgres, felt }) => {
      await postgres.kill();
      await felt();
      await postgres.restart();
    }));
});

interface Site {
  readonly postgres: EmbeddedServer;
  readonly proxy: TcpProxy;
  readonly gateway: TestGateway;
  readonly service: SimulatedService;
  readonly bettors: readonly Bettor[];
}

/** What a fault can affect. */
interface Scene extends Pick<Site, 'postgres' | 'proxy'> {
  /** How many bets have begun. */
  bets(): number;
  /** Resolves when the service has felt the fault a few times. */
  felt(): Promise<void>;
}

async function openSite({ onTestFinished }: TestContext): Promise<Site> {
  // A server of our own to be killed. What it has reported as committed must survive that.
  const postgres = await startPostgres();
  onTestFinished(() => postgres.stop());
  await migrate(postgres.url);
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: postgres.port });
  onTestFinished(() => proxy.close());
  const gateway = await startTestGateway({
    worker: true,
    through: async ({ redisUrl }) => ({ databaseUrl: proxy.through(postgres.url), redisUrl }),
    gateway: {
      // A busy machine with three such sites still answers most bets in it.
      deadline: { totalMs: 3_000, reserveMs: 600 },
      delivery: {
        minBackoffMs: 50,
        maxBackoffMs: 500,
        confirmUnknownAfterMs: 300,
        originateRollbackAfterMs: 2_000,
      },
    },
    operators: { alpha: { wallet: { breaker: { openMs: 200 } } } },
  });
  onTestFinished(() => gateway.close());
  const bookkeeper = gateway.parts.bookkeeper();
  bookkeeper.start();
  onTestFinished(() => bookkeeper.close());
  const { baseUrl } = gateway;
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: RETRY_SCALE });
  onTestFinished(() => service.close());
  const bettors: Bettor[] = [];
  for (let index = 0; index < LANES; index += 1) {
    const player = await gateway.player({ balance: '100000' });
    bettors.push({ player, wallet: gateway.wallet('alpha') });
  }
  return { postgres, proxy, gateway, service, bettors };
}

/** Bets continue through the fault and after it; then everything must agree. */
async function survives(
  context: TestContext,
  fault: (scene: Scene) => Promise<void>,
): Promise<void> {
  const { expect } = context;
  const { postgres, proxy, gateway, service, bettors } = await openSite(context);
  const random = new Random(7);
  const contradictions: string[] = [];
  let bets = 0;
  let over = false;
  const lanes = bettors.map(async (bettor) => {
    while (!over) {
      bets += 1;
      contradictions.push(...(await liveBet(service, random, bettor)));
    }
  });
  const felt = async () => {
    const earlier = await failuresOf(gateway);
    const since = async () => (await failuresOf(gateway)) - earlier;
    await expect.poll(since, PATIENT).toBeGreaterThan(5);
  };
  try {
    await vi.waitUntil(() => bets >= 3 * LANES, PATIENT);
    await fault({ postgres, proxy, bets: () => bets, felt });
    const end = bets + 3 * LANES;
    await vi.waitUntil(() => bets >= end, PATIENT);
  } finally {
    over = true;
  }
  await Promise.all(lanes);
  const wallet = gateway.wallet('alpha');
  wallet.behave();
  wallet.applyLate();
  await service.idle();
  const direct = new Client({ connectionString: postgres.url });
  await direct.connect();
  const query = async (text: string) => (await direct.query(text)).rows;
  const deployment = { databaseUrl: postgres.url, wallets: [wallet], query };
  try {
    await allHome(deployment);
    expect(compareBooks(service.books(), [wallet.books()]).differences).toEqual([]);
    expect(await journalFaults(deployment, service, [wallet])).toEqual([]);
    expect(contradictions).toEqual([]);
    await booksAgree(deployment);
  } finally {
    await direct.end();
  }
}

async function failuresOf(gateway: TestGateway): Promise<number> {
  const outcomes = ['error', 'unknown', 'not_sent'];
  const counts = outcomes.map((outcome) => gateway.metric('gateway_callbacks_total', { outcome }));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

describe('a commit whose result is lost', { timeout: 60_000 }, () => {
  let proxy: TcpProxy;
  let gateway: TestGateway;
  let direct: string;
  let own: Client;
  let observer: Client;
  beforeAll(async () => {
    gateway = await startTestGateway({
      worker: true,
      through: async ({ databaseUrl, redisUrl }) => {
        direct = databaseUrl;
        proxy = await startTcpProxy(databaseUrl);
        return { databaseUrl: proxy.through(databaseUrl), redisUrl };
      },
    });
    own = new Client({ connectionString: direct });
    observer = new Client({ connectionString: direct });
    await Promise.all([own.connect(), observer.connect()]);
  });
  afterAll(async () => {
    await Promise.all([own.end(), observer.end()]);
    await gateway.close();
    await proxy.close();
  });

  const waiting = async () => {
    const { rows } = await observer.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
        AND wait_event_type = 'Lock' AND application_name = 'wagergate'`,
    );
    return rows.length;
  };
  const placeOf = async (transactionId: string) => {
    const { rows } = await observer.query('SELECT place FROM bets WHERE transaction_id = $1', [
      transactionId,
    ]);
    return rows[0]?.place;
  };
  /** Releases our lock (on a table: rows are not waited for); the statement commits, its answer never arrives. */
  const commitSilently = async (isCommitted: () => Promise<boolean>) => {
    await expect.poll(waiting, PATIENT).toBe(1);
    proxy.freeze();
    await own.query('ROLLBACK');
    await expect.poll(isCommitted, PATIENT).toBe(true);
    proxy.reset();
  };

  it('is looked up by key and attempt: a written intent is sent, once (I3, I5)', async () => {
    const player = await gateway.player();
    const transactionId = 'lost-begin';
    await own.query('BEGIN');
    await own.query(
      `INSERT INTO bets (transaction_id, generation, place) VALUES ($1, 1, 'unseen')`,
      [transactionId],
    );
    const placing = gateway.service.place({ ...player, amount: '10', transactionId });
    await commitSilently(async () => (await placeOf(transactionId)) === 'in_flight');
    expect((await placing).kind).toBe('accepted');
    expect(gateway.wallet('alpha').arrivals(transactionId, 'place')).toHaveLength(1);
    expect(await placeOf(transactionId)).toBe('accepted');
  });

  it('is looked up: a written outcome is answered (I3)', async () => {
    const player = await gateway.player();
    const transactionId = 'lost-finish';
    const gate = gateway.wallet('alpha').hold('place', { transactionId });
    const placing = gateway.service.place({ ...player, amount: '10', transactionId });
    await gate.arrived;
    await own.query('BEGIN');
    await own.query('LOCK TABLE attempts IN SHARE MODE');
    gate.release();
    await commitSilently(async () => (await placeOf(transactionId)) === 'accepted');
    expect((await placing).kind).toBe('accepted');
  });

  it('is never assumed: an intent that was not written is written anew (I3)', async () => {
    const player = await gateway.player();
    const transactionId = 'lost-and-undone';
    await own.query('BEGIN');
    await own.query(
      `INSERT INTO bets (transaction_id, generation, place) VALUES ($1, 1, 'unseen')`,
      [transactionId],
    );
    const placing = gateway.service.place({ ...player, amount: '10', transactionId });
    await expect.poll(waiting, PATIENT).toBe(1);
    await observer.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'wagergate'
          AND wait_event_type = 'Lock'`,
    );
    await expect.poll(waiting, PATIENT).toBe(1);
    await own.query('ROLLBACK');
    expect((await placing).kind).toBe('accepted');
    expect(gateway.wallet('alpha').arrivals(transactionId, 'place')).toHaveLength(1);
  });

  const promised = async (transactionId: string) => {
    const { rows } = await observer.query('SELECT 1 FROM deliveries WHERE transaction_id = $1', [
      transactionId,
    ]);
    return rows.length === 1;
  };

  it('is looked up: the promise of a rollback is written, and brought at once (I3, I4)', async () => {
    const player = await gateway.player();
    const { transactionId } = await gateway.service.place({ ...player, amount: '10' });
    await own.query('BEGIN');
    await own.query('LOCK TABLE operations IN SHARE MODE');
    const rolling = gateway.service.rollback(transactionId);
    await commitSilently(() => promised(transactionId));
    expect((await rolling).kind).toBe('confirmed');
    const wallet = gateway.wallet('alpha');
    await wallet.waitFor(() => wallet.balance(player.user, 'USD') === '1000', 30_000);
    expect(wallet.arrivals(transactionId, 'rollback')).toHaveLength(1);
    const attempts = `SELECT a.number FROM attempts a JOIN operations o ON o.id = a.operation_id
                       WHERE o.transaction_id = $1 AND o.operation = 'rollback'`;
    // Written once the wallet has answered: its delivery may still be under way.
    await expect
      .poll(async () => (await observer.query(attempts, [transactionId])).rowCount)
      .toBe(1);
  });

  it('is looked up: a settle that was written is sent, once (I3, I5)', async () => {
    const player = await gateway.player();
    const { transactionId } = await gateway.service.place({ ...player, amount: '10' });
    await own.query('BEGIN');
    await own.query('LOCK TABLE operations IN SHARE MODE');
    const settling = gateway.service.settle(transactionId, { amount: '25', resultType: 'won' });
    await commitSilently(async () => {
      const text = `SELECT FROM operations WHERE transaction_id = $1 AND operation = 'settle'`;
      return (await observer.query(text, [transactionId])).rowCount === 1;
    });
    await settling;
    const wallet = gateway.wallet('alpha');
    expect(wallet.arrivals(transactionId, 'settle')).toHaveLength(1);
    expect(wallet.balance(player.user, 'USD')).toBe('1015');
  });
});
