import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { startGateway } from '../support/processes.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

/** Requests in flight have 10 s; a little more for closing, and for a busy machine. */
const STOPPED_MS = 12_500;
/** Before the end of those 10 s. */
const AT_ONCE_MS = 6_000;
const GOOD = { code: 0, signal: null };

describe('SIGTERM', { timeout: 40_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment({
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
      operators: { alpha: {}, beta: {} },
    });
  });
  afterAll(() => deployment.close());

  const serviceAt = ({ baseUrl }: Replica): SimulatedService =>
    createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  const draining = (replica: Replica) =>
    replica.process.waitForLine(({ json }) => json?.msg === 'gateway.draining');

  it('lets a place bet in flight end, and takes no new connection', async () => {
    const replica = await deployment.replica();
    const service = serviceAt(replica);
    const player = await deployment.player(replica.baseUrl);
    const gate = deployment.wallet('alpha').hold('place');
    const placing = service.place({ ...player, amount: '10' });
    await gate.arrived;
    const stopping = replica.process.stop();
    await draining(replica);
    await expect(fetch(replica.baseUrl)).rejects.toHaveProperty('cause.code', 'ECONNREFUSED');
    const releasedAtMs = performance.now();
    gate.release();
    const placed = await placing;
    expect(placed.kind).toBe('accepted');
    expect(await stopping).toEqual(GOOD);
    // Its connection was not kept alive, so there is nothing left to wait for.
    expect(performance.now() - releasedAtMs).toBeLessThan(AT_ONCE_MS);
    expect(await stateOf(placed.transactionId)).toEqual({ place: 'accepted', busy: null });
    expect(deployment.wallet('alpha').balance(player.user, 'USD')).toBe('990');
    await service.close();
  });

  it('answers what comes on a connection that it has kept, as the last on it (I2)', async () => {
    const replica = await deployment.replica();
    const service = serviceAt(replica);
    const player = await deployment.player(replica.baseUrl);
    // Its connection is kept, and idle.
    await service.balance({ ...player, currency: 'USD' });
    const stopping = replica.process.stop();
    await draining(replica);
    const placed = await service.place({ ...player, amount: '10' });
    expect(placed.kind).toBe('accepted');
    expect((await service.place({ ...player, amount: '10' })).result.failure).toBe('connection');
    expect(await stopping).toEqual(GOOD);
    await service.close();
  });

  it('does not wait long for a connection that is kept and not used', async () => {
    const replica = await deployment.replica();
    const service = serviceAt(replica);
    const player = await deployment.player(replica.baseUrl);
    await service.balance({ ...player, currency: 'USD' });
    const atMs = performance.now();
    expect(await replica.process.stop()).toEqual(GOOD);
    expect(performance.now() - atMs).toBeLessThan(AT_ONCE_MS);
    await service.close();
  });

  it('finishes the delivery under way and leaves the others to the next process (I4)', async () => {
    const replica = await deployment.replica();
    const service = serviceAt(replica);
    const player = await deployment.player(replica.baseUrl, { operatorId: 'beta' });
    const wallet = deployment.wallet('beta');
    const bets = await Promise.all(
      Array.from({ length: 30 }, () => service.place({ ...player, amount: '1' })),
    );
    wallet.misbehave('rollback', { kind: 'status', status: 500 }, { calls: bets.length });
    const gate = wallet.hold('rollback');
    const rollbacks = bets.map(({ transactionId }) => service.rollback(transactionId));
    await gate.arrivedTimes(bets.length);
    // Closed before the other one opens: the promise is delivered soon.
    const deliveries = wallet.hold('rollback');
    gate.release();
    for (const { kind } of await Promise.all(rollbacks)) expect(kind).toBe('confirmed');
    await deliveries.arrived;
    const stopping = replica.process.stop();
    await draining(replica);
    deliveries.release();
    expect(await stopping).toEqual(GOOD);
    const [left] = await deployment.query<{ busy: number; open: number; all: number }>(
      `SELECT (SELECT count(*) FROM bets WHERE busy_attempt IS NOT NULL)::int AS busy,
              count(*) FILTER (WHERE state = 'pending')::int AS open, count(*)::int AS all
         FROM deliveries`,
    );
    expect(left).toMatchObject({ busy: 0, all: bets.length });
    const next = await deployment.replica({ ROLES: 'http,worker' });
    await wallet.waitFor(() => wallet.balance(player.user, 'USD') === '1000', 15_000);
    for (const { transactionId } of bets) {
      expect(wallet.arrivals(transactionId, 'rollback').at(-1)?.result).toMatch(/applied|repeated/);
    }
    expect(await next.process.stop()).toEqual(GOOD);
    await service.close();
  });

  // These only wait for the end of the 10 s, so they run concurrently.
  describe.concurrent('and what does not end by itself', () => {
    it('does not wait for a wallet that hangs: its deadline answers, and nothing stays half written', async ({
      expect,
    }) => {
      const replica = await deployment.replica();
      const service = serviceAt(replica);
      const player = await deployment.player(replica.baseUrl);
      const transactionId = 'a-hanging-place';
      deployment.wallet('alpha').misbehave('place', { kind: 'hang' }, { transactionId });
      const atMs = performance.now();
      const placing = service.place({ ...player, amount: '10', transactionId });
      await deployment
        .wallet('alpha')
        .waitFor(() => arrivals('alpha', transactionId, 'place') === 1);
      expect(await replica.process.stop()).toEqual(GOOD);
      expect(performance.now() - atMs).toBeLessThan(STOPPED_MS);
      const placed = await placing;
      expect(placed.result.json?.code).toBe(100);
      expect(await stateOf(transactionId)).toEqual({ place: 'unknown', busy: null });
      await service.close();
    });

    it('is not held up by a client that keeps a connection open or half a request back', async ({
      expect,
    }) => {
      const replica = await deployment.replica();
      const { hostname, port } = new URL(replica.baseUrl);
      const half = connect({ host: hostname, port: Number(port) });
      half.on('error', () => half.destroy());
      half.write('POST /payment/bet HTTP/1.1\r\nhost: gateway\r\ncontent-length: 100\r\n\r\n{');
      const idle = connect({ host: hostname, port: Number(port) });
      idle.on('error', () => idle.destroy());
      await fetch(`${replica.baseUrl}/nothing`);
      const atMs = performance.now();
      expect(await replica.process.stop()).toEqual(GOOD);
      expect(performance.now() - atMs).toBeLessThan(STOPPED_MS);
      half.destroy();
      idle.destroy();
    });

    it('is not held up by a PostgreSQL or a Redis that has frozen', async ({ expect }) => {
      const postgres = await startTcpProxy(deployment.databaseUrl);
      const redis = await startTcpProxy(deployment.redisUrl);
      const replica = await deployment.replica({
        DATABASE_URL: postgres.through(deployment.databaseUrl),
        REDIS_URL: redis.through(deployment.redisUrl),
      });
      postgres.freeze();
      redis.freeze();
      const atMs = performance.now();
      expect(await replica.process.stop()).toEqual(GOOD);
      expect(performance.now() - atMs).toBeLessThan(STOPPED_MS);
      await postgres.close();
      await redis.close();
    });

    it('ends a process that is still waiting for its servers', async ({ expect }) => {
      const postgres = await startTcpProxy(deployment.databaseUrl);
      postgres.freeze();
      const env = {
        ...deployment.env,
        DATABASE_URL: postgres.through(deployment.databaseUrl),
      };
      const gateway = await startGateway({ env });
      await expect.poll(() => postgres.connections, { timeout: 15_000 }).toBe(1);
      expect(await gateway.stop()).toEqual(GOOD);
      await postgres.close();
    });
  });

  const arrivals = (operatorId: string, transactionId: string, operation: 'place') =>
    deployment.wallet(operatorId).arrivals(transactionId, operation).length;

  async function stateOf(transactionId: string) {
    const [row] = await deployment.query(
      'SELECT place, busy_attempt AS busy FROM bets WHERE transaction_id = $1',
      [transactionId],
    );
    return row;
  }
});
