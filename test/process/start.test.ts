import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { createBareDatabase } from '../support/database.ts';
import { startGateway } from '../support/processes.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { type Deployment, openDeployment } from './support/deployment.ts';

/** Longer than the 15 s for which a server may be missing at the start. */
const PATIENT = { timeout: 40_000 };

describe('the start of the gateway', () => {
  let deployment: Deployment;
  beforeAll(async () => {
    deployment = await openDeployment();
  });
  afterAll(() => deployment.close());

  /** Starts a gateway that must refuse to start. @returns its one line on stderr, without the program's name */
  async function refusal(env: Readonly<Record<string, string>>): Promise<string> {
    const gateway = await startGateway({ env: { ...deployment.env, ...env } });
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    const said = gateway.lines.map(({ json }) => json?.msg);
    expect(said).not.toContain('gateway.listening');
    expect(said).not.toContain('gateway.started');
    expect(gateway.stderr()).toMatch(/^wagergate: .*\n$/s);
    return gateway.stderr().slice('wagergate: '.length, -1);
  }

  describe.concurrent('is refused with one clear line', PATIENT, () => {
    // The other variables: test/config/environment/environment.test.ts.
    it.for([
      ['DATABASE_URL', { DATABASE_URL: '' }, /^DATABASE_URL is not set.*DATABASE_URL=postgresql:/],
      ['ROLES', { ROLES: 'http,cook' }, /^ROLES must be http, worker or http,worker$/],
    ] as const)('that names %s', async ([, env, expected], { expect }) => {
      const said = await refusal(env);
      expect(said).toMatch(expected);
      expect(said).not.toContain('\n');
    });

    it('when nobody listens where PostgreSQL should be', async ({ expect }) => {
      const said = await refusal({ DATABASE_URL: 'postgresql://user:geheim@127.0.0.1:1/gateway' });
      expect(said).toMatch(
        /^PostgreSQL \(DATABASE_URL, postgresql:\/\/127\.0\.0\.1:1\/gateway\) cannot be reached: .*ECONNREFUSED/,
      );
      expect(said).not.toMatch(/\n|geheim/);
    });

    it('without showing a password whose slash ends the host', async ({ expect }) => {
      const database = await refusal({ DATABASE_URL: 'postgresql://nobody.invalid:/geheim@db/w' });
      expect(database).toMatch(/^PostgreSQL \(DATABASE_URL, postgresql:\/\/…, not shown: .*%2F/);
      const redis = await refusal({ REDIS_URL: 'redis://default:/geheim@redis:6379' });
      expect(redis).toMatch(/^REDIS_URL has an @ behind its host: in a password write \/ as %2F/);
      expect(`${database}${redis}`).not.toContain('geheim');
    });

    it('when PostgreSQL accepts a connection and says nothing', async ({ expect }) => {
      const proxy = await startTcpProxy(deployment.databaseUrl);
      proxy.freeze();
      const said = await refusal({ DATABASE_URL: proxy.through(deployment.databaseUrl) });
      await proxy.close();
      expect(said).toMatch(/^PostgreSQL \(DATABASE_URL, .*\) cannot be reached: /);
      expect(said).not.toContain('\n');
    });

    it('when migrations are pending, saying which and what to do', async ({ expect }) => {
      const bare = await createBareDatabase();
      const said = await refusal({ DATABASE_URL: bare.url });
      await bare.drop();
      expect(said).toMatch(/^the database lacks \d+ migration.*_journal.*`wagergate migrate`/);
      expect(said).toMatch(/ or start with MIGRATE_ON_START=true$/);
      expect(said).not.toContain('\n');
    });

    it('when its search_path leads to no journal, without advice that would make a second one', async ({
      expect,
    }) => {
      const url = new URL(deployment.databaseUrl);
      url.searchParams.set('options', '-c search_path=nowhere');
      const said = await refusal({ DATABASE_URL: url.href });
      expect(said).toMatch(/to which search_path does not lead: .*`wagergate migrate`/);
      expect(said).not.toContain('MIGRATE_ON_START');
    });

    it('when its role may not make the schema, without a stack trace', async ({ expect }) => {
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
      expect(said).toMatch(
        /^PostgreSQL \(DATABASE_URL, .*\): its schema could not be migrated: .*read-only transaction$/,
      );
    });

    it('when REDIS_URL names no database of that Redis', async ({ expect }) => {
      const redis = (database: string) => {
        const url = new URL(deployment.redisUrl);
        url.pathname = database;
        return { REDIS_URL: url.href };
      };
      expect(await refusal(redis('/first'))).toMatch(
        /^REDIS_URL ends in "first", where the number/,
      );
      expect(await refusal(redis('/4711'))).toMatch(
        /^Redis \(.*\) cannot be used: .*DB index is out of range$/,
      );
    });

    it.for(['1', '4'])('when its port is taken (WORKERS=%s)', async (workers, { expect }) => {
      const taken = createServer();
      const port = await listenOn(taken, 0);
      const gateway = await startGateway({
        env: { ...deployment.env, PORT: String(port), WORKERS: workers },
      });
      expect(await gateway.exited).toEqual({ code: 1, signal: null });
      await stopListening(taken);
      expect(gateway.stderr()).toMatch(new RegExp(`^wagergate: .*127\\.0\\.0\\.1:${port}.*\n$`));
      // Said once: the log does not repeat it.
      expect(gateway.lines.filter(({ json }) => Number(json?.level) >= 50)).toEqual([]);
    });

    it('when there is no configuration', async ({ expect }) => {
      const folder = join(deployment.configFolder, 'nowhere');
      const said = await refusal({ GATEWAY_CONFIG: folder });
      expect(said).toContain('gateway.yaml');
      expect(said).not.toContain('\n    at ');
    });

    it('for each fault of the configuration, naming file and path', async ({ expect }) => {
      const folder = await mkdtemp(join(tmpdir(), 'wagergate-config-'));
      await writeFile(
        join(folder, 'gateway.yaml'),
        'service: {cid: a, secrets: ["$' +
          '{NOT_THERE}"], bonusApiUrl: http://127.0.0.1:9}\ndeadlines: {}\n',
      );
      const said = await refusal({ GATEWAY_CONFIG: folder });
      await rm(folder, { recursive: true });
      const lines = said.split('\n');
      expect(lines).toContainEqual(
        expect.stringMatching(/gateway\.yaml: service\.secrets\[0\].*NOT_THERE/),
      );
      expect(lines).toContainEqual(expect.stringMatching(/gateway\.yaml: deadlines/));
      expect(said).not.toContain('    at ');
    });
  });

  it('applies pending migrations if it is told to', async () => {
    const bare = await createBareDatabase();
    const replica = await deployment.replica({ DATABASE_URL: bare.url, MIGRATE_ON_START: 'true' });
    expect((await fetch(`${replica.adminUrl}/metrics`)).status).toBe(200);
    expect(await replica.process.stop()).toEqual({ code: 0, signal: null });
    await bare.drop();
  });

  it('warns where tokens would be stored as they are', async () => {
    const replica = await deployment.replica({ ENCRYPTION_KEY: '' });
    expect(replica.process.lines.map(({ json }) => json)).toContainEqual(
      expect.objectContaining({
        msg: 'start.no_encryption_key',
        note: expect.stringContaining('set ENCRYPTION_KEY'),
      }),
    );
    await replica.process.stop();
  });

  it('opens no public port for a process that only delivers', async () => {
    const probe = createServer();
    const port = await listenOn(probe, 0);
    await stopListening(probe);
    const gateway = await startGateway({
      env: { ...deployment.env, ROLES: 'worker', PORT: String(port) },
    });
    await gateway.waitForLine(({ json }) => json?.msg === 'gateway.started');
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toHaveProperty(
      'cause.code',
      'ECONNREFUSED',
    );
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });

  it.each([
    ['http', false],
    ['worker', true],
    ['http,worker', true],
  ])('tells an alert by its counter of drains whether it delivers: %s', async (ROLES, delivers) => {
    const gateway = await startGateway({ env: { ...deployment.env, ROLES } });
    await gateway.waitForLine(({ json }) => json?.msg === 'gateway.started');
    const said = gateway.lines.find(({ json }) => json?.msg === 'gateway.admin_listening');
    const metrics = await (await fetch(`${said?.json?.address}/metrics`)).text();
    expect(/^gateway_drains_total\{by="sweep"\} \d/m.test(metrics)).toBe(delivers);
    await gateway.stop();
  });

  it('counts what its own key does not open even if it only answers callbacks', async () => {
    const replica = await deployment.replica();
    await deployment.player(replica.baseUrl);
    const ENCRYPTION_KEY = Buffer.alloc(32, 9).toString('base64');
    const other = await deployment.replica({ ROLES: 'http', ENCRYPTION_KEY });
    await other.process.waitForLine(({ json }) => json?.msg === 'tokens.unopenable');
    const metrics = await (await fetch(`${other.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/^gateway_tokens_behind\{state="unopenable"\} [1-9]/m);
    await other.process.stop();
    await replica.process.stop();
  });

  it('goes on with the last good configuration when a file becomes invalid', async () => {
    const replica = await deployment.replica();
    await appendFile(join(deployment.configFolder, 'operators', 'alpha.yaml'), 'nonsense: true\n');
    const line = await replica.process.waitForLine(({ text }) => text.includes('nonsense'));
    expect(line.text).toContain('alpha.yaml');
    expect((await fetch(`${replica.baseUrl}/nothing`)).status).toBe(404);
    await replica.process.stop();
  });
});
