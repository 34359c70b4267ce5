import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEnvironment } from '../../src/config/environment/environment.ts';
import { awaitDatabase } from '../../src/process/start-up.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { createBareDatabase } from '../support/database.ts';
import { startGateway } from '../support/processes.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { TestClock } from '../support/test-clock.ts';
import { type Deployment, openDeployment, type Replica } from './support/deployment.ts';

/** Each look at it is almost as much later as a start waits for PostgreSQL. */
class HastyClock extends TestClock {
  override monotonicMs = () => {
    this.atMs += 14_800;
    return this.atMs;
  };
}

describe('a start', { timeout: 60_000 }, () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  describe('is refused with one clear line', () => {
    /** @returns what awaiting the database says */
    async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
      const environment = readEnvironment({ ...deployment.env, ...env });
      const starting = awaitDatabase(environment, new HastyClock(), pino({ level: 'silent' }));
      const { message } = await starting.then(
        () => new Error('it starts'),
        (error: Error) => error,
      );
      expect(message).not.toMatch(/\n|geheim/);
      return message;
    }

    it('when nobody listens where PostgreSQL should be', async () => {
      const said = await refusal({ DATABASE_URL: 'postgresql://user:geheim@127.0.0.1:1/gateway' });
      expect(said).toMatch(
        /^PostgreSQL \(DATABASE_URL, postgresql:\/\/127\.0\.0\.1:1\/gateway\) cannot be reached: .*(?:ECONNREFUSED|EPIPE)/,
      );
    });

    it('when PostgreSQL accepts a connection and says nothing', async () => {
      const proxy = await startTcpProxy(deployment.databaseUrl);
      proxy.freeze();
      const said = await refusal({ DATABASE_URL: proxy.through(deployment.databaseUrl) });
      await proxy.close();
      expect(said).toMatch(/^PostgreSQL \(DATABASE_URL, .*\) cannot be reached: /);
    });

    it('when migrations are pending, saying which and what to do', async () => {
      const bare = await createBareDatabase();
      const said = await refusal({ DATABASE_URL: bare.url });
      await bare.drop();
      expect(said).toMatch(/^the database lacks \d+ migration.*`wagergate migrate`/);
      expect(said).toMatch(/ or start with MIGRATE_ON_START=true$/);
    });

    it('when its role may not make the schema', async () => {
      const bare = await createBareDatabase();
      const client = new Client({ connectionString: bare.url });
      await client.connect();
      await client.query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on',
                                    current_database()); END $$`,
      );
      await client.end();
      const said = await refusal({ DATABASE_URL: bare.url, MIGRATE_ON_START: 'true' });
      await bare.drop();
      expect(said).toMatch(/: its schema could not be migrated: .*read-only transaction$/);
    });
  });

  it('is refused when its port is taken: the process says so once, on stderr, and exits with 1', async () => {
    const taken = createServer();
    const port = await listenOn(taken, 0);
    const env = { ...deployment.env, PORT: String(port), WORKERS: '2' };
    const gateway = await startGateway({ env });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    await stopListening(taken);
    expect(gateway.stderr()).toMatch(new RegExp(`^wagergate: .*127\\.0\\.0\\.1:${port}.*\n$`));
    expect(gateway.lines.filter(({ json }) => Number(json?.level) >= 50)).toEqual([]);
  });

  it('is refused for each fault of gateway.yaml, with its file and path', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wagergate-config-'));
    await writeFile(join(folder, 'gateway.yaml'), 'service: {cid: a}\ndeadlines: {}\n');
    const gateway = await startGateway({ env: { ...deployment.env, GATEWAY_CONFIG: folder } });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    await rm(folder, { recursive: true });
    expect(gateway.stderr()).toMatch(/^wagergate: /);
    expect(gateway.stderr()).toMatch(/gateway\.yaml: service\.secrets/);
    expect(gateway.stderr()).toMatch(/gateway\.yaml: deadlines/);
    expect(gateway.stderr()).not.toContain('    at ');
  });

  it('is not ready, and says so, until PostgreSQL answers', async () => {
    const proxy = await startTcpProxy(deployment.databaseUrl);
    proxy.freeze();
    const ADMIN_PORT = String(await freePort());
    const DATABASE_URL = proxy.through(deployment.databaseUrl);
    const gateway = await startGateway({ env: { ...deployment.env, DATABASE_URL, ADMIN_PORT } });
    const ask = (path: string) => fetch(`http://127.0.0.1:${ADMIN_PORT}${path}`);
    const readiness = () =>
      ask('/health/ready').then(
        async (response) => [response.status, await response.json()],
        () => 'refused',
      );
    const dependencies = { postgresql: 'unknown', redis: 'unknown' };
    await expect.poll(readiness).toEqual([503, { status: 'starting', dependencies }]);
    // Where liveness decides about traffic, a process that may never start takes none.
    expect((await ask('/health/live')).status).toBe(503);
    await proxy.restore();
    await gateway.waitForLine(({ json }) => json?.msg === 'gateway.started');
    expect(await readiness()).toEqual([
      200,
      { status: 'ready', dependencies: { postgresql: 'up', redis: 'up' } },
    ]);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    await proxy.close();
  });

  describe('in its roles', () => {
    let whole: Replica;
    beforeAll(async () => {
      whole = await deployment.replica();
    });
    afterAll(() => whole.process.stop());

    const metricsAt = async (adminUrl: unknown) =>
      await (await fetch(`${adminUrl}/metrics`)).text();
    const DRAINS = /^gateway_drains_total\{by="sweep"\} \d/m;

    it('takes callbacks and delivers', async () => {
      expect((await fetch(`${whole.baseUrl}/nothing`)).status).toBe(404);
      expect(await metricsAt(whole.adminUrl)).toMatch(DRAINS);
    });

    it('only answers callbacks with ROLES=http', async () => {
      const other = await deployment.replica({ ROLES: 'http' });
      expect(await metricsAt(other.adminUrl)).not.toMatch(DRAINS);
      await other.process.stop();
    });

    it('opens no public port with ROLES=worker, and warns where tokens would be stored as they are', async () => {
      const port = await freePort();
      const env = { ...deployment.env, ROLES: 'worker', PORT: `${port}`, ENCRYPTION_KEY: '' };
      const gateway = await startGateway({ env });
      await gateway.waitForLine(({ json }) => json?.msg === 'gateway.started');
      await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toHaveProperty(
        'cause.code',
        expect.stringMatching(/ECONNREFUSED|EPIPE/),
      );
      const line = (msg: string) => gateway.lines.find(({ json }) => json?.msg === msg)?.json;
      expect(await metricsAt(line('gateway.admin_listening')?.address)).toMatch(DRAINS);
      expect(line('start.no_encryption_key')).toBeDefined();
      expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    });
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listenOn(probe, 0);
  await stopListening(probe);
  return port;
}
