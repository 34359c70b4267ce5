import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { startGateway } from '../support/processes.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';

describe('a process that waits for PostgreSQL at its start', { timeout: 40_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  it('is not ready, and says so, until it serves', async () => {
    const proxy = await startTcpProxy(deployment.databaseUrl);
    proxy.freeze();
    const probe = createServer();
    const port = await listenOn(probe, 0);
    await stopListening(probe);
    const gateway = await startGateway({
      env: {
        ...deployment.env,
        DATABASE_URL: proxy.through(deployment.databaseUrl),
        ADMIN_PORT: String(port),
      },
    });
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    const readiness = () =>
      ask('/health/ready').then(
        async (response) => [response.status, await response.json()],
        () => 'refused',
      );
    const dependencies = { postgresql: 'unknown', redis: 'unknown' };
    await expect
      .poll(readiness, { timeout: 10_000 })
      .toEqual([503, { status: 'starting', dependencies }]);
    // Where liveness decides about traffic, a process that may never start takes none.
    expect((await ask('/health/live')).status).toBe(503);
    await proxy.restore();
    await gateway.waitForLine(({ json }) => json?.msg === 'gateway.started');
    expect(await readiness()).toEqual([
      200,
      { status: 'ready', dependencies: { postgresql: 'up', redis: 'up' } },
    ]);
    expect((await ask('/health/live')).status).toBe(200);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    await proxy.close();
  });

  it('refuses at once where its admin port is taken', async () => {
    const taken = createServer();
    const port = await listenOn(taken, 0);
    const env = { ...deployment.env, ADMIN_PORT: String(port) };
    const gateway = await startGateway({
      env: { ...env, DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/gateway' },
    });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.stderr()).toMatch(
      new RegExp(`^wagergate: cannot listen on .*:${port} \\(ADMIN_HOST, ADMIN_PORT\\): .*\n$`),
    );
    await stopListening(taken);
  });
});
