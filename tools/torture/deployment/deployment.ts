import { fileURLToPath } from 'node:url';
import { startRedis } from '../../embedded/redis.ts';
import type { EmbeddedServer } from '../../embedded/server.ts';
import { SignedClient } from '../../simulator/signed-client.ts';
import { CHARACTERS, type Layout, OPERATORS, type OperatorId } from '../plan/plan.ts';
import { SERVICE_LIMIT_MS } from '../settings.ts';
import { LinkProxy } from '../world/link-proxy.ts';
import { Wallet } from '../world/wallet.ts';
import { ConfigurationFolder, SERVICE_SECRET } from './configuration.ts';
import { Gateway } from './gateway.ts';
import { freePort, type Servers } from './servers.ts';

export const ADMIN_TOKEN = 'the-torture-tests-own-admin-token';

/** One gateway process, with the proxies through which it reaches PostgreSQL and Redis. */
export interface Process {
  readonly gateway: Gateway;
  readonly postgres: LinkProxy;
  readonly redis: LinkProxy;
}

/** An address that the service can call. */
export interface Entrance {
  readonly gateway: Gateway;
  readonly client: SignedClient;
}

/** The gateways of one layout and everything around them; histories are played in it one after another. */
export interface Deployment {
  readonly layout: Layout;
  readonly processes: readonly Process[];
  readonly entrances: readonly Entrance[];
  readonly configuration: ConfigurationFolder;
  readonly redis: EmbeddedServer;
  readonly databaseUrl: string;
  wallet(operator: OperatorId): Wallet;
  close(): Promise<void>;
}

interface ProcessPlan {
  readonly env: Readonly<Record<string, string>>;
  readonly takesCallbacks: boolean;
  /** How far its wall clock is ahead. */
  readonly skewMs: number;
}

const PROCESSES: Readonly<Record<Layout, readonly ProcessPlan[]>> = {
  one: [{ env: {}, takesCallbacks: true, skewMs: 0 }],
  replicas: [
    { env: {}, takesCallbacks: true, skewMs: 0 },
    { env: {}, takesCallbacks: true, skewMs: 95_000 },
  ],
  split: [
    { env: { ROLES: 'http' }, takesCallbacks: true, skewMs: 0 },
    { env: { ROLES: 'worker' }, takesCallbacks: false, skewMs: -95_000 },
  ],
  workers: [{ env: { WORKERS: '2' }, takesCallbacks: true, skewMs: 0 }],
};

const SKEWED_CLOCK = fileURLToPath(new URL('./skewed-clock.mjs', import.meta.url));

export async function openDeployment(servers: Servers, layout: Layout): Promise<Deployment> {
  const databaseUrl = await servers.database();
  const redis = await startRedis();
  const wallets = new Map<OperatorId, Wallet>();
  for (const operator of OPERATORS) {
    const wallet = new Wallet(operator, CHARACTERS[operator], `${operator}-wallet-secret`);
    await wallet.up();
    wallets.set(operator, wallet);
  }
  const configuration = await ConfigurationFolder.write(wallets);
  const processes: Process[] = [];
  const deployment = { layout, processes, configuration, redis, databaseUrl };
  const entrances: Entrance[] = [];
  const close = async () => {
    await Promise.all(entrances.map(({ client }) => client.close()));
    await Promise.all(processes.map(({ gateway }) => gateway.close()));
    const links = processes.flatMap(({ postgres, redis: link }) => [postgres, link]);
    await Promise.all(links.map((link) => link.cut()));
    await Promise.all([...wallets.values()].map((wallet) => wallet.close()));
    await configuration.remove();
    await redis.stop();
  };
  try {
    for (const plan of PROCESSES[layout]) {
      const started = await startProcess(plan, {
        databaseUrl,
        redisUrl: redis.url,
        configFolder: configuration.path,
      });
      processes.push(started);
      await started.gateway.start();
      if (!plan.takesCallbacks) continue;
      const { baseUrl } = started.gateway;
      const client = new SignedClient({
        baseUrl,
        secret: SERVICE_SECRET,
        timeoutMs: SERVICE_LIMIT_MS,
      });
      entrances.push({ gateway: started.gateway, client });
    }
  } catch (error) {
    await close();
    throw error;
  }
  const wallet = (operator: OperatorId) => {
    const found = wallets.get(operator);
    if (found === undefined) throw new Error(`no operator ${operator}`);
    return found;
  };
  return { ...deployment, entrances, wallet, close };
}

async function startProcess(
  plan: ProcessPlan,
  around: {
    readonly databaseUrl: string;
    readonly redisUrl: string;
    readonly configFolder: string;
  },
): Promise<Process> {
  const postgres = await proxyBefore(around.databaseUrl, 5432);
  const redis = await proxyBefore(around.redisUrl, 6379);
  const [port, adminPort] = [await freePort(), await freePort()];
  const skew =
    plan.skewMs === 0
      ? {}
      : { NODE_OPTIONS: `--import=${SKEWED_CLOCK}`, TORTURE_SKEW_MS: String(plan.skewMs) };
  const gateway = new Gateway({
    port,
    adminPort,
    env: {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      GATEWAY_CONFIG: around.configFolder,
      HOST: '127.0.0.1',
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      ADMIN_TOKEN,
      MIGRATE_ON_START: 'true',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      LOG_LEVEL: 'info',
      ...plan.env,
      ...skew,
    },
  });
  return { gateway, postgres: postgres.proxy, redis: redis.proxy };
}

async function proxyBefore(
  target: string,
  defaultPort: number,
): Promise<{ readonly proxy: LinkProxy; readonly url: string }> {
  const url = new URL(target);
  const proxy = new LinkProxy({ host: url.hostname, port: Number(url.port || defaultPort) });
  await proxy.up();
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return { proxy, url: url.href };
}
