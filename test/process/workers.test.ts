import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createService, type SimulatedService } from '../../tools/simulator/service.ts';
import { ADMIN_TOKEN } from '../admin/support/admin.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import type { GatewayProcess } from '../support/processes.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { descendantsOf } from '../tools/demo/support/descendants.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

const CALLS = 40;
const PATIENT = { timeout: 45_000, interval: 100 };
const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** One gateway for all of them, in this order: the last ones replace and end it. */
describe('WORKERS=2', { timeout: 120_000 }, () => {
  let deployment: Deployment;
  let replica: Replica;
  let redis: TcpProxy;
  let service: SimulatedService;
  let file: string;
  let good: string;
  beforeAll(async () => {
    deployment = await openDeployment();
    redis = await startTcpProxy(deployment.redisUrl);
    const REDIS_URL = redis.through(deployment.redisUrl);
    replica = await deployment.replica({ WORKERS: '2', ADMIN_TOKEN, REDIS_URL });
    service = serviceAt(replica.baseUrl);
    await vi.waitUntil(() => listening(replica.process) === 2, PATIENT);
    file = join(deployment.configFolder, 'operators', 'alpha.yaml');
    good = await readFile(file, 'utf8');
  });
  afterAll(async () => {
    await service.close();
    await redis.close();
    await deployment.close();
  });

  it('serves on one port, and the admin port sums both processes', async () => {
    expect(new Set(addressesOf(replica.process)).size).toBe(1);
    const player = await deployment.player(replica.baseUrl);
    const asked = Array.from({ length: CALLS }, () => service.profile(player.token));
    for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
    const sum = () =>
      sample('gateway_callbacks_total', 'operation="profile"', 'outcome="accepted"');
    await expect.poll(sum, PATIENT).toBe(CALLS);
    expect(await sample('process_cpu_user_seconds_total')).toBeGreaterThan(0);
  });

  it('shows operators as all processes see them', async () => {
    const player = await deployment.player(replica.baseUrl);
    const gate = deployment.wallet('alpha').hold('balance');
    const asking = Promise.all([1, 2, 3, 4].map(() => service.balance(player)));
    await gate.arrivedTimes(4);
    const answer = await fetch(`${replica.adminUrl}/admin/operators`, { headers });
    expect(((await answer.json()) as { items: object[] }).items[0]).toMatchObject({
      id: 'alpha',
      inFlight: { read: 4, money: 0 },
      breaker: { read: 'closed', money: 'closed' },
    });
    gate.release();
    await asking;
  });

  it('a reload is in force in every process with its answer: no bet of a suspended operator is taken (I7)', async () => {
    const reload = async () => {
      const answer = await fetch(`${replica.adminUrl}/admin/reload`, { method: 'POST', headers });
      return await answer.json();
    };
    const player = await deployment.player(replica.baseUrl);
    await writeFile(file, good.replace(/^status: .*$/m, '').concat('\nstatus: suspended\n'));
    expect(await reload()).toMatchObject({ result: 'ok', problems: [] });
    const placed = await Promise.all(
      Array.from({ length: 12 }, () => service.place({ ...player, amount: '1' })),
    );
    expect(placed.filter(({ kind }) => kind === 'accepted')).toEqual([]);
    await writeFile(file, `${good}\nno: such key\n`);
    expect(await reload()).toMatchObject({ result: 'invalid', problems: [{ path: 'no' }] });
    await writeFile(file, good);
    expect(await reload()).toMatchObject({ result: 'ok' });
    expect((await service.place({ ...player, amount: '1' })).kind).toBe('accepted');
  });

  it('SIGHUP to the process that people know reaches all of them', async () => {
    const before = replica.process.lines.length;
    const reloaded = () => {
      const lines = replica.process.lines.slice(before);
      const done = lines.filter(({ json }) => json?.msg === 'config.reloaded');
      return new Set(done.map(({ json }) => json?.pid)).size;
    };
    replica.process.signal('SIGHUP');
    await expect.poll(reloaded, PATIENT).toBe(3);
  });

  it('replaces killed processes, although a file is broken and Redis away: what was in force goes on (I7)', async () => {
    const player = await deployment.player(replica.baseUrl);
    const answered = await sample('gateway_callbacks_total');
    const startedAt = await sample('process_start_time_seconds');
    await writeFile(file, `${good}\nno: such key`);
    await redis.cut();
    const before = await descendantsOf(replica.process.pid);
    expect(before).toHaveLength(2);
    for (const pid of before) process.kill(pid, 'SIGKILL');
    // Nobody accepts callbacks, and the probe says so.
    const ready = async () => (await fetch(`${replica.adminUrl}/health/ready`)).status;
    await expect.poll(ready, PATIENT).toBe(503);
    await expect.poll(() => listening(replica.process), PATIENT).toBe(4);
    await expect.poll(ready, PATIENT).toBe(200);
    for (const pid of await descendantsOf(replica.process.pid)) expect(before).not.toContain(pid);
    // `PORT=0` gives another one when all worker processes have ended.
    await service.close();
    service = serviceAt(String(addressesOf(replica.process).at(-1)));
    expect((await service.profile(player.token)).status).toBe(200);
    // A falling total would look like as many new events.
    expect(await sample('gateway_callbacks_total')).toBeGreaterThanOrEqual(answered);
    // "Youngest" on the dashboard shows a worker that keeps dying.
    expect(await sample('process_start_time_seconds')).toBeGreaterThan(startedAt);
    await redis.restore();
    await writeFile(file, good);
  });

  it('drains all processes on SIGTERM, says so until the last has drained, and exits 0', async () => {
    const baseUrl = String(addressesOf(replica.process).at(-1));
    const player = await deployment.player(baseUrl);
    const gate = deployment.wallet('alpha').hold('place');
    const placing = service.place({ ...player, amount: '10' });
    await gate.arrived;
    const stopping = replica.process.stop();
    // One of the two has nothing to wait for, and neither has the parent.
    const stopped = () =>
      replica.process.lines.filter(({ json }) => json?.msg === 'gateway.stopped').length;
    await expect.poll(stopped, PATIENT).toBe(1);
    const ready = await fetch(`${replica.adminUrl}/health/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([503, { status: 'draining' }]);
    expect((await fetch(`${replica.adminUrl}/metrics`)).status).toBe(200);
    gate.release();
    expect((await placing).kind).toBe('accepted');
    expect(await stopping).toEqual({ code: 0, signal: null });
    await expect(fetch(baseUrl)).rejects.toHaveProperty(
      'cause.code',
      expect.stringMatching(/ECONNREFUSED|EPIPE/),
    );
  });

  it('leaves no worker process behind when its parent is killed', async () => {
    const other = await deployment.replica({ WORKERS: '2' });
    await expect.poll(() => listening(other.process), PATIENT).toBe(2);
    await other.process.kill();
    const served = () =>
      fetch(other.baseUrl).then(
        () => true,
        () => false,
      );
    await expect.poll(served, PATIENT).toBe(false);
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

function serviceAt(baseUrl: string): SimulatedService {
  return createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
}

function addressesOf({ lines }: GatewayProcess): unknown[] {
  return lines.flatMap(({ json }) => (json?.msg === 'gateway.listening' ? [json.address] : []));
}

function listening(gateway: GatewayProcess): number {
  return addressesOf(gateway).length;
}
