import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createService } from '../../tools/simulator/service.ts';
import { freePort } from '../../tools/torture/deployment/servers.ts';
import { SERVICE_SECRET } from '../support/gateway.ts';
import { startGateway } from '../support/processes.ts';
import { descendantsOf } from '../tools/demo/support/descendants.ts';
import { isAlive } from '../tools/embedded/support/scratch.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';

const PATIENT = { timeout: 20_000, interval: 100 };
vi.setConfig({ testTimeout: 60_000 });

let deployment: Deployment;
let folder: string;
beforeAll(async () => {
  deployment = await openDeployment();
  folder = await mkdtemp(join(tmpdir(), 'wagergate-log-'));
});
afterAll(async () => {
  await deployment.close();
  await rm(folder, { recursive: true });
});

/** A gateway whose log goes through a pipe to a separate reader. */
async function logged(env: Readonly<Record<string, string>> = {}) {
  const pipe = join(folder, `${Math.random()}`);
  await promisify(execFile)('mkfifo', [pipe]);
  const reader = spawn('cat', [pipe], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => {
    reader.kill('SIGKILL');
  });
  const addresses = new Map<string, string>();
  const lines = createInterface({ input: reader.stdout });
  lines.on('line', (line) => {
    const { msg, address } = JSON.parse(line);
    addresses.set(msg, address);
  });
  const process = await startGateway({ env: { ...deployment.env, ...env }, stdout: pipe });
  const admin = () => addresses.get('gateway.admin_listening');
  const status = async () => (await fetch(`${admin()}/health/ready`)).status;
  await expect.poll(() => addresses.has('gateway.listening') && admin(), PATIENT).toBeTruthy();
  await expect.poll(status, PATIENT).toBe(200);
  return { process, reader, baseUrl: addresses.get('gateway.listening') ?? '' };
}

/** Requests balances of one player, each of which is a line in the log. @returns the statuses of the answers */
async function caller(baseUrl: string) {
  const player = await deployment.player(baseUrl);
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0 });
  onTestFinished(() => service.close());
  return async (count: number) => {
    const statuses = new Set<number | undefined>();
    for (let left = count; left > 0; left -= 1) {
      statuses.add((await service.balance(player)).status);
    }
    return statuses;
  };
}

describe('a gateway whose log nobody reads any more', () => {
  it('goes on, and ends in order when it is told to (I7)', async () => {
    const { process, reader, baseUrl } = await logged();
    const balances = await caller(baseUrl);
    reader.kill('SIGKILL');
    expect(await balances(20)).toEqual(new Set([200]));
    expect(await process.stop()).toEqual({ code: 0, signal: null });
  });

  it('ends in order even if it was about to write', async () => {
    const { process, reader, baseUrl } = await logged();
    const balances = await caller(baseUrl);
    reader.kill('SIGKILL');
    await balances(1);
    expect(await process.stop()).toEqual({ code: 0, signal: null });
  });

  it('ends with all its worker processes when its own process is killed (WORKERS=2)', async () => {
    const { process, reader, baseUrl } = await logged({ WORKERS: '2' });
    const workers = await descendantsOf(process.pid);
    expect(workers).toHaveLength(2);
    const balances = await caller(baseUrl);
    await balances(1);
    reader.kill('SIGKILL');
    // There are always lines that wait to be written.
    const asked = balances(200);
    await process.kill();
    await asked;
    const alive = () => workers.filter(isAlive);
    await expect.poll(alive, PATIENT).toEqual([]);
  });
});

describe('a gateway whose log is not read for a while', () => {
  it('goes on, and does not wait for the reader when it is told to end (I7)', async () => {
    const { process, reader, baseUrl } = await logged();
    const balances = await caller(baseUrl);
    reader.kill('SIGSTOP');
    // More than the pipe can hold.
    expect(await balances(600)).toEqual(new Set([200]));
    const { code, signal } = await process.stop();
    expect(code === 0 || signal === 'SIGKILL').toBe(true);
  });
});

describe('a gateway whose log has no room left', () => {
  it('goes on, and ends in order when it is told to (I7)', async () => {
    const port = await freePort();
    const adminPort = await freePort();
    const env = { ...deployment.env, PORT: `${port}`, ADMIN_PORT: `${adminPort}` };
    const process = await startGateway({ env, stdout: '/dev/full' });
    const status = () =>
      fetch(`http://127.0.0.1:${adminPort}/health/ready`).then(
        (answer) => answer.status,
        () => undefined,
      );
    await expect.poll(status, PATIENT).toBe(200);
    const balances = await caller(`http://127.0.0.1:${port}`);
    expect(await balances(20)).toEqual(new Set([200]));
    expect(await process.stop()).toEqual({ code: 0, signal: null });
  });
});
