import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createService } from '../../tools/simulator/service.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { type GatewayProcess, startGateway } from '../support/processes.ts';
import { descendantsOf } from '../tools/demo/support/descendants.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

/** A process has a limited number of files, and every connection uses one (I7). */

const PATIENT = { timeout: 20_000, interval: 100 };
vi.setConfig({ testTimeout: 60_000 });

let deployment: Deployment;
beforeAll(async () => {
  deployment = await openDeployment({ gateway: { http: { maxConnections: 500 } } });
});
afterAll(() => deployment.close());

describe('a worker process at its limit of open files (WORKERS=2)', () => {
  let replica: Replica;
  beforeAll(async () => {
    replica = await deployment.replica({ WORKERS: '2' });
    // A worker that ends before it listens ends the start of all.
    await vi.waitUntil(async () => (await readiness(replica.adminUrl)).status === 200, PATIENT);
  });

  it('has threads for the names of many wallets, as all processes of a gateway (I7)', async () => {
    const { pid } = replica.process;
    for (const one of [pid, ...(await descendantsOf(pid))]) {
      await expect.poll(() => poolThreads(one), PATIENT).toBe(32);
    }
  });
});

describe('http.maxConnections above what the limit of open files has room for', () => {
  it('is lowered, which the log says in words, and callers are served at the limit (I7)', async () => {
    const gateway = await startGateway({ env: deployment.env, openFilesMax: 250 });
    const { json } = await limited(gateway);
    expect(json).toMatchObject({ configured: 500, maxConnections: 50, openFilesMax: 250 });
    expect(json?.note).toMatch(/may have 250 files open: raise that \(ulimit -n/);
    const baseUrl = await addressOf(gateway, 'gateway.listening');
    const adminUrl = await addressOf(gateway, 'gateway.admin_listening');
    const player = await deployment.player(baseUrl);
    const silent = await strangers(baseUrl, 400);
    const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
    expect((await service.balance(player)).status).toBe(200);
    expect(await readiness(adminUrl)).toMatchObject({ status: 200 });
    await service.close();
    for (const socket of silent) socket.destroy();
    await gateway.stop();
  });

  it('is compared again at a reload', async () => {
    const { process: gateway } = await deployment.replica();
    expect(gateway.lines.some(({ json }) => json?.msg === 'http.connections_limited')).toBe(false);
    const file = join(deployment.configFolder, 'gateway.yaml');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('maxConnections: 500', 'maxConnections: 1000000'));
    await setSoftLimit(gateway.pid, 400);
    gateway.signal('SIGHUP');
    const { json } = await limited(gateway);
    expect(json).toMatchObject({ configured: 1_000_000, maxConnections: 125 });
    await writeFile(file, text);
    await gateway.stop();
  });

  it('stops the start if there is room for nobody', async () => {
    const gateway = await startGateway({ env: deployment.env, openFilesMax: 100 });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.stderr()).toBe(
      'wagergate: the process may have 100 files open, and the gateway needs 150 for itself: raise the limit (ulimit -n, LimitNOFILE=)\n',
    );
  });
});

const limited = (gateway: GatewayProcess) =>
  gateway.waitForLine(({ json }) => json?.msg === 'http.connections_limited');

async function addressOf(gateway: GatewayProcess, message: string): Promise<string> {
  const line = await gateway.waitForLine(({ json }) => json?.msg === message, 30_000);
  return String(line.json?.address);
}

async function readiness(adminUrl: string): Promise<{ status: number; report: unknown }> {
  const answer = await fetch(`${adminUrl}/health/ready`);
  return { status: answer.status, report: await answer.json() };
}

function strangers(baseUrl: string, count: number): Promise<Socket[]> {
  const port = Number(new URL(baseUrl).port);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => socket.destroy());
      await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
      return socket;
    }),
  );
}

/** libuv's threads; there are none until the first is needed. */
async function poolThreads(pid: number): Promise<number> {
  const folder = `/proc/${pid}/task`;
  const names = (await readdir(folder)).map((task) => readFile(join(folder, task, 'comm'), 'utf8'));
  return (await Promise.all(names)).filter((name) => name === 'libuv-worker\n').length;
}

/** Only the soft limit, so that it can be raised again. */
async function setSoftLimit(pid: number, files: number): Promise<void> {
  await promisify(execFile)('prlimit', [`--pid=${pid}`, `--nofile=${files}:`]);
}
