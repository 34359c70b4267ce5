import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import { startRedis } from '../../tools/embedded/redis.ts';
import { createOperator } from '../../tools/simulator/operator.ts';
import type { ServicePlayer } from '../../tools/simulator/service.ts';
import { type Child, startChild } from '../support/child.ts';
import { MEASURED_ON, pin, REST_ON, unpin } from '../support/processors.ts';

/** One of the two that are compared. */
export interface Side {
  /** Where callbacks go, without a path. */
  readonly url: string;
  readonly process: Child;
}

export interface Servers extends AsyncDisposable {
  readonly gateway: Side;
  readonly proxy: Side;
  readonly walletUrl: string;
  readonly databaseUrl: string;
  /** Players of the gateway's operator, with live sessions. */
  readonly players: readonly ServicePlayer[];
  readonly serviceSecret: string;
  /** The gateway and the proxy have a processor for themselves, everything else has another. */
  readonly isPinned: boolean;
}

export const CONFIG_FOLDER = fileURLToPath(new URL('../../config', import.meta.url));
const API_SECRET = randomBytes(24).toString('base64url');
const SERVICE_SECRET = randomBytes(24).toString('base64url');
const CURRENCY = 'USD';
/** Enough that no row of a single player or session is what is measured. */
const PLAYERS = 100;

/**
 * @param gatewayFlags for the gateway's `node`, which has this folder for its files
 * @param configFolder default: the repository's own example
 */
export async function startServers(
  gatewayFlags: (folder: string) => readonly string[] = () => [],
  configFolder = CONFIG_FOLDER,
): Promise<Servers> {
  await using running = new AsyncDisposableStack();
  const processors = availableParallelism();
  const isPinned = await pin(process.pid, REST_ON);
  running.defer(() => unpin(processors, process.pid));
  const postgres = await startPostgres();
  running.defer(() => postgres.stop());
  const redis = await startRedis();
  running.defer(() => redis.stop());
  const wallet = running.use(await startChild({ script: 'bench/support/wallet.ts' }));
  const walletUrl = await listening(wallet);
  const proxy = running.use(
    await startChild({ script: 'bench/callbacks/proxy.ts', args: [walletUrl] }),
  );
  const gateway = running.use(
    await startChild({
      script: 'src/main.ts',
      nodeArgs: gatewayFlags,
      env: { ...environment(postgres.url, redis.url, walletUrl), GATEWAY_CONFIG: configFolder },
    }),
  );
  const { address } = await gateway.line(({ msg }) => msg === 'gateway.listening');
  const gatewayUrl = String(address);
  const players = await openSessions(gatewayUrl);
  const proxyUrl = await listening(proxy);
  for (const side of isPinned ? [gateway, proxy] : []) await pin(side.pid, MEASURED_ON);
  const kept = running.move();
  return {
    gateway: { url: gatewayUrl, process: gateway },
    proxy: { url: proxyUrl, process: proxy },
    walletUrl,
    databaseUrl: postgres.url,
    players,
    serviceSecret: SERVICE_SECRET,
    isPinned,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function listening(child: Child): Promise<string> {
  const { port } = await child.line((line) => typeof line.port === 'number');
  return `http://127.0.0.1:${port}`;
}

/** As in production: durable commits, a log line a callback, the example configuration's defaults. */
function environment(
  databaseUrl: string,
  redisUrl: string,
  walletUrl: string,
): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    MIGRATE_ON_START: 'true',
    LOG_LEVEL: 'info',
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    NODE_ENV: 'production',
    SERVICE_SECRET,
    SERVICE_BONUS_URL: 'http://127.0.0.1:9',
    ALPHA_WALLET_URL: walletUrl,
    ALPHA_WALLET_SECRET: randomBytes(24).toString('base64url'),
    ALPHA_API_SECRET: API_SECRET,
    BETA_WALLET_URL: walletUrl,
    BETA_WALLET_SECRET: randomBytes(24).toString('base64url'),
    BETA_API_SECRET: randomBytes(24).toString('base64url'),
  };
}

async function openSessions(baseUrl: string): Promise<ServicePlayer[]> {
  const operator = createOperator({ baseUrl, cid: 'alpha-key', secret: API_SECRET });
  try {
    return await Promise.all(
      Array.from({ length: PLAYERS }, async (_, n) => {
        const request = { operatorUser: `player-${n}`, currency: CURRENCY };
        const operatorToken = randomBytes(12).toString('hex');
        const { session, body } = await operator.openSession({ ...request, operatorToken });
        if (session === undefined) throw new Error(`no session: ${body}`);
        return { userId: session.userId, token: session.token, currency: CURRENCY };
      }),
    );
  } finally {
    await operator.close();
  }
}
