import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { GatewayProcess } from '../support/processes.ts';
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

describe('worker processes that hang', { timeout: 180_000 }, () => {
  it('are not ready when all of them do, and are replaced (I7)', async () => {
    const { process: gateway, ready, workers, adminUrl } = await twoWorkers();
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
    await expect.poll(() => said(gateway, 'gateway.listening'), PATIENT).toBe(4);
    const listening = gateway.lines.filter(({ json }) => json?.msg === 'gateway.listening');
    const address = String(listening.at(-1)?.json?.address);
    expect((await fetch(`${address}/nothing`)).status).toBe(404);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });
});
