import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startPostgres } from '../../tools/embedded/postgres.ts';
import { startRedis } from '../../tools/embedded/redis.ts';
import { type Child, startChild } from './child.ts';
import { MEASURED_ON, pin, REST_ON, unpin } from './processors.ts';
import { START_FLAGS } from './start-flags.ts';

/** A process that takes callbacks, or that stands in for one. */
export interface Side {
  /** The address for callbacks, without a path. */
  readonly url: string;
  readonly process: Child;
}

export interface GatewaySide extends Side {
  /** The internal listener. */
  readonly adminUrl: string;
}

export interface GatewayOptions {
  readonly configFolder: string;
  /** Overrides the environment that every gateway of a benchmark gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Further flags for its `node`, which keeps its files in this folder. */
  readonly flags?: (folder: string) => readonly string[];
}

export interface SurroundingsOptions {
  /** How long the wallet takes for each answer; by default not at all. */
  readonly walletDelayMs?: number;
  /** Settings of PostgreSQL, by their names in `postgresql.conf`; by default its own defaults. */
  readonly postgres?: Readonly<Record<string, string>>;
}

/** Everything that gateways need; what it has started ends with it. */
export interface Surroundings extends AsyncDisposable {
  readonly databaseUrl: string;
  readonly postgresPid: number;
  readonly redisUrl: string;
  readonly walletUrl: string;
  /** Whether the measured side has its own processor, and everything else another. */
  readonly isPinned: boolean;
  startGateway(options: GatewayOptions): Promise<GatewaySide>;
  /** Starts a script that prints its port; with `measured`, on the processor of the measured side. */
  startServer(script: string, args: readonly string[], measured?: boolean): Promise<Side>;
}

const ENCRYPTION_KEY = randomBytes(32).toString('base64');

/** PostgreSQL (fsync on), Redis and a wallet. */
export async function startSurroundings(options: SurroundingsOptions = {}): Promise<Surroundings> {
  const { walletDelayMs = 0, postgres: settings = {} } = options;
  await using running = new AsyncDisposableStack();
  const isPinned = await pin(process.pid, REST_ON);
  running.defer(() => unpin(cpus().length, process.pid));
  const postgres = await startPostgres({ settings });
  running.defer(() => postgres.stop());
  const redis = await startRedis();
  running.defer(() => redis.stop());
  const startServer = async (script: string, args: readonly string[], measured = false) => {
    const server = kept.use(await startChild({ script, args }));
    const { port } = await server.line((line) => typeof line.port === 'number');
    if (measured && isPinned) await keep(server.pid);
    return { url: `http://127.0.0.1:${port}`, process: server };
  };
  const kept = running.move();
  try {
    const wallet = await startServer('bench/support/wallet.ts', [String(walletDelayMs)]);
    return {
      databaseUrl: postgres.url,
      postgresPid: postgres.pid,
      redisUrl: redis.url,
      walletUrl: wallet.url,
      isPinned,
      startServer,
      startGateway: async ({ configFolder, env = {}, flags = () => [] }) => {
        // Chosen in advance: a gateway that logs nothing does not report its ports either.
        const [port, adminPort] = [await freePort(), await freePort()];
        const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
        const base = usual(postgres.url, redis.url, configFolder);
        const gateway = kept.use(
          await startChild({
            script: 'src/main.ts',
            nodeArgs: (folder) => [...START_FLAGS, ...flags(folder)],
            env: { ...base, ...ports, ...env },
          }),
        );
        if (isPinned) await keep(gateway.pid);
        const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
        await ready(gateway, adminUrl);
        return { url, adminUrl, process: gateway };
      },
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    };
  } catch (error) {
    await kept.disposeAsync();
    throw error;
  }
}

/** As in production: durable commits, a log line per callback, the configuration's defaults. */
function usual(databaseUrl: string, redisUrl: string, configFolder: string) {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    GATEWAY_CONFIG: configFolder,
    HOST: '127.0.0.1',
    MIGRATE_ON_START: 'true',
    LOG_LEVEL: 'info',
    ENCRYPTION_KEY,
    NODE_ENV: 'production',
  };
}

/** @throws Error if that is impossible: the result would claim otherwise */
async function keep(pid: number): Promise<void> {
  if (!(await pin(pid, MEASURED_ON))) throw new Error('what is measured has no processor');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  server.close();
  await once(server, 'close');
  return address.port;
}

const READY_POLL_MS = 20;

/** @throws Error if the gateway ends instead */
async function ready({ exited, line }: Child, adminUrl: string): Promise<void> {
  let hasEnded = false;
  void exited.then(() => {
    hasEnded = true;
  });
  for (;;) {
    const status = await request(`${adminUrl}/health/ready`).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      // Not listening yet.
      () => 0,
    );
    if (status === 200) return;
    // Rejects with its output.
    if (hasEnded) await line(() => false);
    await sleep(READY_POLL_MS);
  }
}
