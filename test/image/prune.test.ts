import { cpSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { run, runOrFail } from '../../tools/lib/command.ts';
import { createBareDatabase, type TestDatabase } from '../support/database.ts';
import { startGateway } from '../support/processes.ts';
import { sharedRedis } from '../support/redis.ts';
import { ROOT } from './support/dockerfile.ts';

const MEGABYTES_MAX = 45;
/** Copies and prunes what production installs. */
const PREPARED_MS = 120_000;

let tree: string;
let database: TestDatabase;
beforeAll(async () => {
  tree = await mkdtemp(join(tmpdir(), 'wagergate-pruned-'));
  database = await createBareDatabase();
  for (const path of ['package.json', 'config', 'prisma/migrations', 'src']) {
    // Here and below synchronous: with a promise per file it takes five times the processor time.
    cpSync(join(ROOT, path), join(tree, path), { recursive: true });
  }
  for (const path of await productionPackages()) {
    await mkdir(join(tree, path, '..'), { recursive: true });
    const own = join(ROOT, path);
    const isOwn = (source: string) => !source.slice(own.length).includes('node_modules');
    cpSync(own, join(tree, path), { recursive: true, filter: isOwn });
  }
  const script = join(ROOT, 'scripts/prune-packages.mjs');
  await runOrFail(process.execPath, [script, join(tree, 'node_modules')]);
}, PREPARED_MS);
afterAll(async () => {
  await database.drop();
  await rm(tree, { recursive: true });
});

/** What `npm ci --omit=dev --omit=optional` installs, according to the lock file. */
async function productionPackages(): Promise<string[]> {
  const lock: unknown = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
  if (typeof lock !== 'object' || lock === null || !('packages' in lock))
    throw new Error('no lock');
  return Object.entries(lock.packages ?? {})
    .filter(([path, entry]) => {
      const { dev, optional, peer, devOptional } = entry;
      return path !== '' && !dev && !optional && !peer && !devOptional;
    })
    .map(([path]) => path);
}

it('leaves of node_modules what fits into the image', async () => {
  const { stdout } = await run('du', ['-sm', join(tree, 'node_modules')]);
  expect(Number.parseInt(stdout, 10)).toBeLessThan(MEGABYTES_MAX);
  expect(Number.parseInt(stdout, 10)).toBeGreaterThan(20);
});

it('leaves what migrates, and every command', async () => {
  const cli = join(tree, 'src/cli/wagergate.ts');
  const { stdout } = await run('env', [
    `DATABASE_URL=${database.url}`,
    process.execPath,
    cli,
    'migrate',
  ]);
  expect(stdout).toMatch(/applied/);
  const help = await run(process.execPath, [cli, '--help']);
  expect(help.code).toBe(0);
  const sign = await run(process.execPath, [cli, 'sign', '--secret', 'a', '-'], { input: '{}' });
  expect(sign.stdout).toMatch(/^ey/);
});

it('leaves what starts, answers, traces and stops', async () => {
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: (await sharedRedis()).url,
    GATEWAY_CONFIG: join(tree, 'config'),
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    ADMIN_TOKEN: 'admin-token-of-this-test-0123456789',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
    SERVICE_BONUS_URL: 'https://s2s.example',
    ALPHA_WALLET_URL: 'https://wallet.alpha.example/sportsbook',
    BETA_WALLET_URL: 'https://wallet.beta.example/sportsbook',
    ...Object.fromEntries(
      ['SERVICE', 'ALPHA_WALLET', 'ALPHA_API', 'BETA_WALLET', 'BETA_API'].map((name) => [
        `${name}_SECRET`,
        `the-secret-of-${name.toLowerCase()}-0123456789abcdef`,
      ]),
    ),
  };
  const gateway = await startGateway({ script: join(tree, 'src/main.ts'), cwd: tree, env });
  const line = await gateway.waitForLine(({ json }) => json?.msg === 'gateway.listening', 30_000);
  const admin = await gateway.waitForLine(({ json }) => json?.msg === 'gateway.admin_listening');
  await gateway.waitForLine(({ json }) => json?.msg === 'gateway.started');
  const answer = await fetch(`${line.json?.address}/user/balance`, { method: 'POST', body: '{}' });
  expect(await answer.json()).toMatchObject({ code: 1 });
  expect((await fetch(`${line.json?.address}/openapi.json`)).status).toBe(200);
  for (const path of ['/metrics', '/docs', '/health/ready']) {
    expect((await fetch(`${admin.json?.address}${path}`)).status, path).toBe(200);
  }
  const deliveries = await fetch(`${admin.json?.address}/admin/deliveries`, {
    headers: { authorization: `Bearer ${env.ADMIN_TOKEN}` },
  });
  expect(deliveries.status).toBe(200);
  expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  expect(gateway.stderr()).toBe('');
});
