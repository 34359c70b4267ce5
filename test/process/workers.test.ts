import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import type { GatewayProcess } from '../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { descendantsOf } from '../tools/demo/support/descendants.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

const ADMIN_TOKEN = 'the-admins-token-that-is-long-enough';
const PROFILES = 40;
const PATIENT = { timeout: 45_000, interval: 100 };

describe('WORKERS=2', { timeout: 120_000 }, () => {
  let deployment: Deployment;
  let replica: Replica;
  let redis: TcpProxy;
  let service: SimulatedService;
  beforeAll(async () => {
    deployment = await openDeployment();
    redis = await startTcpProxy(deployment.redisUrl);
    replica = await deployment.replica({
      WORKERS: '2',
      ADMIN_TOKEN,
      REDIS_URL: redis.through(deployment.redisUrl),
    });
    service = createService({ baseUrl: replica.baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
    await vi.waitUntil(() => listening(replica.process) === 2, PATIENT);
  });
  afterAll(async () => {
    await service.close();
    await redis.close();
    await deployment.close();
  });

  it('serves on one port, and the admin port sums both processes', async () => {
    const addresses = addressesOf(replica.process);
    expect(new Set(addresses).size).toBe(1);
    const player = await deployment.player(replica.baseUrl);
    const asked = Array.from({ length: PROFILES }, () => service.profile(player.token));
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const sum = () =>
      sample('gateway_callbacks_total', 'operation="profile"', 'outcome="accepted"');
    await expect.poll(sum, PATIENT).toBe(PROFILES);
    expect(await sample('process_cpu_user_seconds_total')).toBeGreaterThan(0);
  });

  it('shows operators as all processes see them', async () => {
    const player = await deployment.player(replica.baseUrl);
    const gate = deployment.wallet('alpha').hold('balance');
    const asking = Promise.all([1, 2, 3, 4].map(() => service.balance(player)));
    await gate.arrivedTimes(4);
    const operator = async () => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const answer = await fetch(`${replica.adminUrl}/admin/operators`, { headers });
      return ((await answer.json()) as { items: object[] }).items[0];
    };
    expect(await operator()).toMatchObject({
      id: 'alpha',
      inFlight: { read: 4, money: 0 },
      breaker: { read: 'closed', money: 'closed' },
    });
    gate.release();
    await asking;
  });

  it('replaces a worker process that was killed', async () => {
    const before = await workersOf(replica.process);
    expect(before).toHaveLength(2);
    const answered = await sample('gateway_callbacks_total');
    const startedAt = await sample('process_start_time_seconds');
    expect(Math.abs(startedAt - Date.now() / 1_000)).toBeLessThan(300);
    expect(answered).toBeGreaterThanOrEqual(PROFILES);
    const [victim = 0] = before;
    process.kill(victim, 'SIGKILL');
    await replica.process.waitForLine(({ json }) => json?.msg === 'cluster.worker_died');
    // The other one carries on meanwhile.
    expect((await fetch(`${replica.baseUrl}/nothing`)).status).toBe(404);
    await expect.poll(() => listening(replica.process), PATIENT).toBe(3);
    const after = await workersOf(replica.process);
    expect(after).toHaveLength(2);
    expect(after).not.toContain(victim);
    // A falling total would look like as many new events.
    expect(await sample('gateway_callbacks_total')).toBeGreaterThanOrEqual(answered);
    // "Youngest" on the dashboard shows a worker that keeps dying.
    expect(await sample('process_start_time_seconds')).toBeGreaterThan(startedAt);
  });

  it('replaces worker processes while a file is broken: what was in force goes on (I7)', async () => {
    const other = await deployment.replica({ WORKERS: '2' });
    await expect.poll(() => listening(other.process), PATIENT).toBe(2);
    const player = await deployment.player(other.baseUrl);
    const file = join(deployment.configFolder, 'operators', 'alpha.yaml');
    const good = await readFile(file, 'utf8');
    await writeFile(file, `${good}\nno: such key`);
    try {
      for (const pid of await workersOf(other.process)) process.kill(pid, 'SIGKILL');
      // Nobody accepts callbacks, and the probe says so.
      const ready = async () => (await fetch(`${other.adminUrl}/health/ready`)).status;
      await expect.poll(ready, PATIENT).toBe(503);
      await expect.poll(() => listening(other.process), PATIENT).toBe(4);
      await expect.poll(ready, PATIENT).toBe(200);
      const asked = createService({
        // `PORT=0` gives another one when all worker processes have ended.
        baseUrl: String(addressesOf(other.process).at(-1)),
        ...{ secret: SERVICE_SECRET, retryScale: 0 },
      });
      expect((await asked.profile(player.token)).status).toBe(200);
      await asked.close();
    } finally {
      await writeFile(file, good);
      await other.process.stop();
    }
  });

  it('answers a sender that ends its side of the connection behind its request', async () => {
    const { hostname, port } = new URL(replica.baseUrl);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.end('GET /nothing HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('says that it drains, and is scraped, until its last worker process has drained', async () => {
    const other = await deployment.replica({ WORKERS: '2' });
    await expect.poll(() => listening(other.process), PATIENT).toBe(2);
    const at = createService({ baseUrl: other.baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
    const player = await deployment.player(other.baseUrl);
    const gate = deployment.wallet('alpha').hold('place');
    try {
      const placing = at.place({ ...player, amount: '10' });
      await gate.arrived;
      const stopping = other.process.stop();
      // One of the two has nothing to wait for, and neither has the parent.
      await expect.poll(() => said(other.process, 'gateway.stopped'), PATIENT).toBe(1);
      for (let round = 0; round < 5; round += 1) {
        const ready = await fetch(`${other.adminUrl}/health/ready`);
        expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'draining' }]);
      }
      expect((await fetch(`${other.adminUrl}/metrics`)).status).toBe(200);
      gate.release();
      expect((await placing).kind).toBe('accepted');
      expect(await stopping).toEqual({ code: 0, signal: null });
    } finally {
      gate.release();
      await at.close();
    }
  });

  it('replaces a worker process while Redis is away: PostgreSQL alone is enough (I7)', async () => {
    const begun = listening(replica.process);
    await redis.cut();
    const [victim] = await workersOf(replica.process);
    process.kill(victim, 'SIGKILL');
    await expect.poll(() => listening(replica.process), PATIENT).toBe(begun + 1);
    await redis.restore();
  });

  it('is scraped at once while a worker process dies', async () => {
    const begun = listening(replica.process);
    const [victim] = await workersOf(replica.process);
    // It hangs, so that the scrape waits for it, and then it is gone.
    process.kill(victim, 'SIGSTOP');
    const sentAtMs = performance.now();
    const scraping = fetch(`${replica.adminUrl}/metrics`).then(async (answer) => {
      await answer.text();
      return { status: answer.status, tookMs: performance.now() - sentAtMs };
    });
    process.kill(victim, 'SIGKILL');
    const { status, tookMs } = await scraping;
    expect(status).toBe(200);
    // A worker that only hangs is given 4 s.
    expect(tookMs).toBeLessThan(3_500);
    await expect.poll(() => listening(replica.process), PATIENT).toBe(begun + 1);
  });

  it('ends on SIGTERM also while a worker process hangs', async () => {
    const other = await deployment.replica({ WORKERS: '2' });
    await expect.poll(() => listening(other.process), PATIENT).toBe(2);
    const [victim] = await workersOf(other.process);
    process.kill(victim, 'SIGSTOP');
    expect(await other.process.stop()).toEqual({ code: 0, signal: null });
    expect(() => process.kill(victim, 0)).toThrow('ESRCH');
  });

  it('drains all processes on SIGTERM and exits 0', async () => {
    const player = await deployment.player(replica.baseUrl);
    const gate = deployment.wallet('alpha').hold('place');
    const placing = [1, 2, 3, 4].map(() => service.place({ ...player, amount: '10' }));
    await gate.arrivedTimes(placing.length);
    const stopping = replica.process.stop();
    await replica.process.waitForLine(({ json }) => json?.msg === 'gateway.draining');
    gate.release();
    for (const { kind } of await Promise.all(placing)) expect(kind).toBe('accepted');
    expect(await stopping).toEqual({ code: 0, signal: null });
    await expect(fetch(replica.baseUrl)).rejects.toHaveProperty('cause.code', 'ECONNREFUSED');
  });

  it('leaves no worker process behind when its parent is killed', async () => {
    const other = await deployment.replica({ WORKERS: '2' });
    await expect.poll(() => listening(other.process), PATIENT).toBe(2);
    await other.process.kill();
    await expect
      .poll(
        () =>
          fetch(other.baseUrl).then(
            () => 'served',
            () => 'gone',
          ),
        PATIENT,
      )
      .toBe('gone');
  });

  /** The sum of all samples of a metric whose labels contain these texts. */
  async function sample(name: string, ...labels: string[]): Promise<number> {
    const text = await (await fetch(`${replica.adminUrl}/metrics`)).text();
    return text
      .split('\n')
      .filter((line) => line.startsWith(name) && labels.every((label) => line.includes(label)))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }
});

function addressesOf({ lines }: GatewayProcess): unknown[] {
  return lines.flatMap(({ json }) => (json?.msg === 'gateway.listening' ? [json.address] : []));
}

function listening(gateway: GatewayProcess): number {
  return addressesOf(gateway).length;
}

/** How often its processes have logged this. */
function said(gateway: GatewayProcess, message: string): number {
  return gateway.lines.filter(({ json }) => json?.msg === message).length;
}

async function workersOf(gateway: GatewayProcess): Promise<[number, ...number[]]> {
  return await descendantsOf(gateway.pid);
}
