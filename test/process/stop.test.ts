import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBody } from '../../src/protocol/callback-bodies.ts';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { ADMIN_TOKEN } from '../admin/support/admin.ts';
import { insertDelivery } from '../support/deliveries.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { startGateway } from '../support/processes.ts';
import { callbackBytes, rawConnection } from '../support/raw-callback.ts';
import { onServer, waitForLock } from '../support/server.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { PATIENT_MS } from '../support/timing.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

const GOOD = { code: 0, signal: null };
/** Longer than closing may take, which is no time to finish in. */
const LOCKED_MS = 1_500;

describe('SIGTERM', { timeout: 60_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment({
      gateway: { delivery: { minBackoffMs: 50, maxBackoffMs: 200 } },
      operators: { alpha: {}, beta: { wallet: { breaker: { minRequests: 100_000 } } } },
    });
  });
  afterAll(() => deployment.close());

  const serviceAt = ({ baseUrl }: Replica): SimulatedService =>
    createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  const said = ({ process }: Replica, msg: string) =>
    process.lines.filter(({ json }) => json?.msg === msg);
  const draining = (replica: Replica) =>
    replica.process.waitForLine(({ json }) => json?.msg === 'gateway.draining');

  it('lets place bets in flight end, also one half received, and takes no new connection (I2)', async () => {
    const replica = await deployment.replica();
    const service = serviceAt(replica);
    const player = await deployment.player(replica.baseUrl);
    const gate = deployment.wallet('alpha').hold('place');
    const placing = service.place({ ...player, amount: '10' });
    await gate.arrived;
    const body = placeBody(service.slip({ ...player, amount: '10' }));
    const bytes = callbackBytes('POST', '/payment/bet', body);
    const half = await rawConnection(replica.baseUrl);
    half.write(bytes.slice(0, bytes.length / 2));
    // The gateway has read that half: it was sent before this request.
    await service.balance(player);
    const stopping = replica.process.stop();
    await draining(replica);
    await expect(fetch(replica.baseUrl)).rejects.toHaveProperty(
      'cause.code',
      expect.stringMatching(/ECONNREFUSED|EPIPE/),
    );
    half.write(bytes.slice(bytes.length / 2));
    gate.release();
    expect(await text(half)).toMatch(/^HTTP\/1\.1 200 .*connection: close/is);
    const placed = await placing;
    expect(placed.kind).toBe('accepted');
    expect(await stopping).toEqual(GOOD);
    // No connection was kept alive, so there was nothing left to wait for.
    expect(said(replica, 'gateway.drain_cut_short')).toEqual([]);
    expect(await stateOf(placed.transactionId)).toEqual({ place: 'accepted', busy: null });
    expect(deployment.wallet('alpha').balance(player.user, 'USD')).toBe('980');
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
    const [left] = await deployment.query(
      `SELECT (SELECT count(*) FROM bets WHERE busy_attempt IS NOT NULL)::int AS busy,
              count(*)::int AS all
         FROM deliveries`,
    );
    expect(left).toEqual({ busy: 0, all: bets.length });
    const next = await deployment.replica();
    await wallet.waitFor(() => wallet.balance(player.user, 'USD') === '1000', 2 * PATIENT_MS);
    for (const { transactionId } of bets) {
      expect(wallet.arrivals(transactionId, 'rollback').at(-1)?.result).toMatch(/applied|repeated/);
    }
    expect(await next.process.stop()).toEqual(GOOD);
    await service.close();
  });

  it('lets what a person asked for end (I12), and asks who uploads a list to send it again', async () => {
    const { databaseUrl } = deployment;
    await onServer(databaseUrl, (client) => insertDelivery(client, { state: 'dead' }));
    const replica = await deployment.replica({ ADMIN_TOKEN, ROLES: 'http' });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const list = `${replica.adminUrl}/admin/reconciliations?operator=alpha&from=2026-11-01&to=2026-11-02`;
    const upload = request(list, { method: 'POST', headers });
    upload.write('transactionId,state\nbet-1,settled\n');
    const runs = () => deployment.query('SELECT why FROM reconciliations');
    await expect.poll(runs).toEqual([{ why: null }]);
    await onServer(databaseUrl, async (client) => {
      await client.query('BEGIN; LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
      const retrying = fetch(`${replica.adminUrl}/admin/deliveries/retry`, {
        ...{ method: 'POST', headers, body: JSON.stringify({ operator: 'alpha', state: 'dead' }) },
      });
      await waitForLock(databaseUrl);
      const answered = once(upload, 'response');
      const stopping = replica.process.stop();
      await draining(replica);
      await sleep(LOCKED_MS);
      await client.query('COMMIT');
      const retried = await retrying;
      expect([retried.status, await retried.json()]).toEqual([200, { retried: 1 }]);
      expect(await stopping).toEqual(GOOD);
      const [answer] = (await answered) as [IncomingMessage];
      const told = JSON.parse(await text(answer));
      expect([answer.statusCode, told]).toEqual([
        503,
        { code: 100, message: 'This process is ending: send the list again' },
      ]);
      upload.destroy();
    });
    expect(await deployment.query('SELECT action FROM audit')).toEqual([
      { action: 'delivery.retry' },
    ]);
    expect(await runs()).toEqual([{ why: 'it was broken off: send the list again' }]);
    expect(said(replica, 'admin.failed')).toEqual([]);
  });

  // These only wait for the end of the 10 s, so they run concurrently.
  describe.concurrent('and what does not end by itself', () => {
    it('is held up neither by a wallet that hangs, whose deadline answers, nor by clients that keep connections', async ({
      expect,
    }) => {
      const replica = await deployment.replica();
      const service = serviceAt(replica);
      const player = await deployment.player(replica.baseUrl);
      const wallet = deployment.wallet('alpha');
      const transactionId = 'a-hanging-place';
      wallet.misbehave('place', { kind: 'hang' }, { transactionId });
      const { hostname, port } = new URL(replica.baseUrl);
      const [half, idle] = [0, 1].map(() => {
        const socket = connect({ host: hostname, port: Number(port) });
        return socket.on('error', () => socket.destroy());
      });
      half?.write('POST /payment/bet HTTP/1.1\r\nhost: gateway\r\ncontent-length: 100\r\n\r\n{');
      const placing = service.place({ ...player, amount: '10', transactionId });
      await wallet.waitFor(() => wallet.arrivals(transactionId, 'place').length === 1);
      expect(await replica.process.stop()).toEqual(GOOD);
      expect((await placing).result.json?.code).toBe(100);
      expect(await stateOf(transactionId)).toEqual({ place: 'unknown', busy: null });
      half?.destroy();
      idle?.destroy();
      await service.close();
    });

    it('is not held up by a PostgreSQL and a Redis that have frozen', async ({ expect }) => {
      const postgres = await startTcpProxy(deployment.databaseUrl);
      const redis = await startTcpProxy(deployment.redisUrl);
      const replica = await deployment.replica({
        DATABASE_URL: postgres.through(deployment.databaseUrl),
        REDIS_URL: redis.through(deployment.redisUrl),
      });
      postgres.freeze();
      redis.freeze();
      expect(await replica.process.stop()).toEqual(GOOD);
      await postgres.close();
      await redis.close();
    });

    it('ends a process that is still waiting for its servers', async ({ expect }) => {
      const postgres = await startTcpProxy(deployment.databaseUrl);
      postgres.freeze();
      const DATABASE_URL = postgres.through(deployment.databaseUrl);
      const gateway = await startGateway({ env: { ...deployment.env, DATABASE_URL } });
      await expect.poll(() => postgres.connections, { timeout: 30_000 }).toBe(1);
      expect(await gateway.stop()).toEqual(GOOD);
      await postgres.close();
    });
  });

  async function stateOf(transactionId: string) {
    const [row] = await deployment.query(
      'SELECT place, busy_attempt AS busy FROM bets WHERE transaction_id = $1',
      [transactionId],
    );
    return row;
  }
});
