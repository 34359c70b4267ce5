import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type GatewayProcess, startGateway } from '../support/processes.ts';
import { descendantsOf } from '../tools/demo/support/descendants.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';

const PATIENT = { timeout: 45_000, interval: 100 };

let deployment: Deployment;
beforeAll(async () => {
  deployment = await openDeployment();
});
afterAll(() => deployment.close());

async function twoWorkers() {
  const replica = await deployment.replica({ WORKERS: '2' });
  await vi.waitUntil(() => said(replica.process, 'gateway.listening') === 2, PATIENT);
  const ready = async () => (await fetch(`${replica.adminUrl}/health/ready`)).status;
  return { ...replica, ready, workers: () => descendantsOf(replica.process.pid) };
}

/** How often its processes have logged this. */
function said(gateway: GatewayProcess, message: string): number {
  return gateway.lines.filter(({ json }) => json?.msg === message).length;
}

/** One request on its own connection, and everything that comes back. */
function asked(baseUrl: string): Promise<string> {
  return text(asking(baseUrl));
}

function asking(baseUrl: string): Socket {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.write('GET /nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
  return socket;
}

describe('worker processes that hang', { timeout: 90_000 }, () => {
  it.concurrent('are not ready when all of them do, and are replaced (I7)', async ({ expect }) => {
    const { process: gateway, ready, workers, baseUrl, adminUrl } = await twoWorkers();
    const hung = await workers();
    process.kill(hung[0], 'SIGSTOP');
    expect(await ready()).toBe(200);
    for (const pid of hung) process.kill(pid, 'SIGSTOP');
    await expect.poll(ready, PATIENT).toBe(503);
    const askedAtMs = performance.now();
    expect(await (await fetch(`${adminUrl}/metrics`)).text()).toContain('gateway_operator_info');
    expect(performance.now() - askedAtMs).toBeLessThan(3_000);
    await vi.waitUntil(() => said(gateway, 'cluster.worker_hangs') === 2, PATIENT);
    await expect.poll(ready, PATIENT).toBe(200);
    for (const pid of await workers()) expect(hung).not.toContain(pid);
    expect(await asked(baseUrl)).toMatch(/^HTTP\/1\.1 404 /);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });

  it.concurrent('for a moment are still given what was accepted when all of them are told to end (I2)', async ({
    expect,
  }) => {
    const { process: gateway, workers, baseUrl } = await twoWorkers();
    const hung = await workers();
    for (const pid of hung) process.kill(pid, 'SIGSTOP');
    // Two are on their way to the workers, the others wait at the parent.
    const sockets = Array.from({ length: 6 }, () => asking(baseUrl));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const answers = Promise.all(sockets.map((socket) => text(socket)));
    const stopping = gateway.stop();
    await vi.waitUntil(() => said(gateway, 'gateway.draining') === 1, PATIENT);
    for (const pid of hung) process.kill(pid, 'SIGCONT');
    for (const answer of await answers) expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    expect(await stopping).toEqual({ code: 0, signal: null });
  });

  it.concurrent('are killed 12 s after all are told to end, even if connections wait for them', async ({
    expect,
  }) => {
    const { process: gateway, workers, baseUrl } = await twoWorkers();
    for (const pid of await workers()) process.kill(pid, 'SIGSTOP');
    const strangers = Array.from({ length: 3 }, () => asking(baseUrl).on('error', () => undefined));
    await Promise.all(strangers.map((socket) => once(socket, 'connect')));
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    const loggedAtMs = (message: string) =>
      Date.parse(String(gateway.lines.find(({ json }) => json?.msg === message)?.json?.time));
    const tookMs = loggedAtMs('cluster.worker_hangs') - loggedAtMs('gateway.draining');
    // It would be 13 s if the time for handing over connections came on top.
    expect(tookMs).toBeGreaterThan(11_000);
    expect(tookMs).toBeLessThan(12_900);
  });

  it.concurrent('are left alone if their parent stood still as well, as with the whole machine', async ({
    expect,
  }) => {
    const { process: gateway, ready, workers } = await twoWorkers();
    const before = await workers();
    const all = [gateway.pid, ...before];
    for (const pid of all) process.kill(pid, 'SIGSTOP');
    const stoppedAtMs = performance.now();
    await vi.waitUntil(() => performance.now() - stoppedAtMs > 33_000, PATIENT);
    for (const pid of all) process.kill(pid, 'SIGCONT');
    await expect.poll(ready, PATIENT).toBe(200);
    expect(await workers()).toEqual(before);
    expect(said(gateway, 'cluster.worker_hangs')).toBe(0);
    await gateway.stop();
  });

  it.concurrent('are not those that are still being loaded, as where they get little of the processor', async ({
    expect,
  }) => {
    // Runs before any of the worker's own code. It is the whole value of a variable, which cannot contain spaces.
    const slow =
      'if(process.channel)Atomics.wait(new(Int32Array)(new(SharedArrayBuffer)(4)),0,0,33000)';
    const NODE_OPTIONS = `--import=data:text/javascript,${slow}`;
    const gateway = await startGateway({ env: { ...deployment.env, WORKERS: '2', NODE_OPTIONS } });
    await gateway.waitForLine(({ json }) => json?.msg === 'gateway.listening', 60_000);
    expect(said(gateway, 'cluster.worker_hangs')).toBe(0);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });

  it('give a connection that they had not taken to those that take their place', async () => {
    const { process: gateway, ready, workers, baseUrl } = await twoWorkers();
    const hung = await workers();
    for (const pid of hung) process.kill(pid, 'SIGSTOP');
    const asking = Promise.all([asked(baseUrl), asked(baseUrl), asked(baseUrl)]);
    // The parent accepts one per turn, and had some waiting.
    for (let turn = 0; turn < 10; turn += 1) expect(await ready()).toBe(200);
    for (const pid of hung) process.kill(pid, 'SIGKILL');
    for (const answer of await asking) expect(answer).toMatch(/^HTTP\/1\.1 404 /);
    await gateway.stop();
  });

  it('leave their parent with files of its own, however many connections wait for them (I7)', async () => {
    const gateway = await startGateway({
      env: { ...deployment.env, WORKERS: '2' },
      openFilesMax: 250,
    });
    await vi.waitUntil(() => said(gateway, 'gateway.listening') === 2, PATIENT);
    const line = await gateway.waitForLine(({ json }) => json?.msg === 'gateway.admin_listening');
    const { json } = await gateway.waitForLine((one) => one.json?.msg === 'gateway.listening');
    const { hostname, port } = new URL(String(json?.address));
    const hung = await descendantsOf(gateway.pid);
    for (const pid of hung) process.kill(pid, 'SIGSTOP');
    let closed = 0;
    const strangers = Array.from({ length: 400 }, () =>
      connect({ host: hostname, port: Number(port) })
        .on('error', () => undefined)
        .on('close', () => {
          closed += 1;
        })
        .resume(),
    );
    await expect.poll(() => closed, PATIENT).toBeGreaterThan(200);
    const live = await fetch(`${line.json?.address}/health/live`);
    expect(live.status).toBe(200);
    for (const socket of strangers) socket.destroy();
    for (const pid of hung) process.kill(pid, 'SIGCONT');
    await gateway.stop();
  });

  it('do not end their parent where no process can be started in their place for a while', async () => {
    const { process: gateway, workers, ready } = await twoWorkers();
    const limit = (soft: string) =>
      promisify(execFile)('prlimit', ['--pid', String(gateway.pid), `--nofile=${soft}:`]);
    const [victim] = await workers();
    await limit('8');
    process.kill(victim, 'SIGKILL');
    await vi.waitUntil(() => said(gateway, 'cluster.worker_not_started') > 0, PATIENT);
    await limit('1000');
    await vi.waitUntil(() => said(gateway, 'gateway.listening') === 3, PATIENT);
    await expect.poll(ready, PATIENT).toBe(200);
    await gateway.stop();
  });
});
