import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../embedded/postgres.ts';
import { startRedis } from '../embedded/redis.ts';
import { isOnPath } from '../lib/command.ts';
import { listenOn, stopListening } from '../simulator/wallet/listener.ts';
import { at, BASE, type Built, build, checkOut, hasOverlay, makeStandIn, Store } from './build.ts';
import { CHECKS, PROMISED, type Scene } from './checks.ts';
import type { Env, Image } from './container.ts';

/**
 * `npm run image`: builds the image and checks its size, its shared layers, and that it migrates, serves and stops
 * without privileges on a read-only root. Exits 0, or 1 if something does not hold; where it cannot be tried here,
 * 0, or 1 with `--required`.
 */
async function main(): Promise<number> {
  const missing = whatIsMissing();
  if (missing !== undefined) {
    console.log(`The image was not built: ${missing}`);
    return process.argv.includes('--required') ? 1 : 0;
  }
  await using cleanup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-image-'));
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const store = new Store(folder, (await hasOverlay(folder)) ? 'overlay' : 'vfs');
  cleanup.defer(() => store.close());
  return (await tryAll(store, folder)) ? 0 : 1;
}

const PROGRAMS = ['buildah', 'runc', 'git', 'tar'];

function whatIsMissing(): string | undefined {
  if (process.platform !== 'linux') return 'this is not Linux.';
  const absent = PROGRAMS.filter((program) => !isOnPath(program));
  if (absent.length > 0) {
    return `there is no ${absent.join(', no ')} (Debian: apt-get install buildah runc git).`;
  }
  return process.getuid?.() === 0 ? undefined : 'building and running it here needs root.';
}

async function tryAll(store: Store, folder: string): Promise<boolean> {
  if (!(await store.pullBase())) {
    if (!isOnPath('debootstrap')) {
      console.log(
        `The image was not built: ${BASE} cannot be pulled, and there is no debootstrap to make a stand-in.`,
      );
      return !process.argv.includes('--required');
    }
    console.log(
      `${BASE} cannot be pulled: a stand-in is made by debootstrap. Sizes are about right.`,
    );
    await makeStandIn(store, folder);
  }
  const sources = join(folder, 'sources');
  await checkOut(sources);
  const built = await build(store, sources, '0.0.1');
  const next = await build(store, sources, '0.0.2');
  return printSize(built, next) && (await runChecks(store, built, folder));
}

function printSize(built: Built, next: Built): boolean {
  const megabytes = (built.bytes / 1e6).toFixed(0);
  const isSmall = built.bytes < PROMISED.bytes;
  tell(isSmall, 'is small', `${megabytes} MB, not compressed`);
  const changed = next.layers.filter((layer) => !built.layers.includes(layer));
  const isShared = built.layers.length > 1 && changed.length === 0;
  tell(
    isShared,
    'shares its layers with the next release',
    `${built.layers.length - changed.length} of ${built.layers.length}`,
  );
  return isSmall && isShared;
}

async function runChecks(store: Store, built: Built, folder: string): Promise<boolean> {
  await using servers = new AsyncDisposableStack();
  const postgres = await startPostgres({ fast: true });
  servers.defer(() => postgres.stop());
  const redis = await startRedis();
  servers.defer(() => redis.stop());
  const [port, adminPort] = [await freePort(), await freePort()];
  const containers = join(folder, 'containers');
  await mkdir(containers);
  const scene: Scene = {
    image: await mounted(store, built.name),
    folder: containers,
    postgres,
    redis,
    env: environment(postgres.url, redis.url, port, adminPort),
    publicUrl: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
  };
  let isGood = true;
  for (const [name, check] of Object.entries(CHECKS)) {
    try {
      tell(true, name, await check(scene));
    } catch (error) {
      isGood = false;
      tell(false, name, error instanceof Error ? error.message : String(error));
    }
  }
  return isGood;
}

async function mounted(store: Store, name: string): Promise<Image> {
  const inspected: unknown = JSON.parse(await store.buildah('inspect', '--type=image', name));
  const config = at(inspected, 'Docker', 'config');
  const list = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  const [uid = 0, gid = 0] = String(at(config, 'User')).split(':').map(Number);
  return {
    root: await store.buildah('mount', await store.buildah('from', name)),
    entryPoint: list(at(config, 'Entrypoint')),
    env: list(at(config, 'Env')),
    user: { uid, gid },
  };
}

function environment(databaseUrl: string, redisUrl: string, port: number, adminPort: number): Env {
  const secrets = ['SERVICE', 'ALPHA_WALLET', 'ALPHA_API', 'BETA_WALLET', 'BETA_API'].map(
    (name) => [`${name}_SECRET`, `the-secret-of-${name.toLowerCase()}-for-this-run`] as const,
  );
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    HOST: '127.0.0.1',
    PORT: String(port),
    // Not the default: the health check has to find it.
    ADMIN_HOST: '0.0.0.0',
    ADMIN_PORT: String(adminPort),
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    SERVICE_BONUS_URL: 'https://s2s.example',
    ALPHA_WALLET_URL: 'https://wallet.alpha.example/sportsbook',
    BETA_WALLET_URL: 'https://wallet.beta.example/sportsbook',
    ...Object.fromEntries(secrets),
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  const port = await listenOn(probe, 0);
  await stopListening(probe);
  return port;
}

function tell(isGood: boolean, name: string, found: string): void {
  console.log(`${isGood ? 'ok    ' : 'FAILED'}  ${name}: ${found}`);
}

process.exit(await main());
