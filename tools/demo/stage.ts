import { fileURLToPath } from 'node:url';
import { startPostgres } from '../embedded/postgres.ts';
import { startRedis } from '../embedded/redis.ts';
import type { EmbeddedServer } from '../embedded/server.ts';
import { type SimulatedBonusApi, startBonusApi } from '../simulator/bonus-api/bonus-api.ts';
import { createOperator, type SimulatedOperator } from '../simulator/operator.ts';
import { createService, type SimulatedService } from '../simulator/service.ts';
import { type SimulatedWallet, startWallet } from '../simulator/wallet/wallet.ts';
import { type Cast, type OperatorId, seedsOf } from './cast.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';

/** Everything that runs during the demo. */
export interface Stage {
  readonly cast: Cast;
  readonly gateway: GatewayProcess;
  /** The gateway's environment; `npx wagergate` needs the same. */
  readonly environment: Readonly<Record<string, string>>;
  readonly service: SimulatedService;
  readonly bonusApi: SimulatedBonusApi;
  readonly wallets: Readonly<Record<OperatorId, SimulatedWallet>>;
  /** The operators' backends, as the gateway's callers. */
  readonly operators: Readonly<Record<OperatorId, SimulatedOperator>>;
  /** Stops everything and deletes its files. */
  close(): Promise<void>;
}

export interface StageOptions {
  /** Called with what is being started. */
  readonly progress: (doing: string) => void;
  /** Aborts the start; whatever runs by then is stopped again. */
  readonly signal: AbortSignal;
  /** Default: the repository's own example. */
  readonly configFolder?: string;
}

/** The aggregator's key at the service, as in the example configuration. */
const SERVICE_CID = 'aggregator-key';

const CONFIG_FOLDER = fileURLToPath(new URL('../../config', import.meta.url));

/** The service repeats a rollback for 7 s instead of 6 minutes: nobody watches a demo that long. */
const SERVICE_RETRY_SCALE = 0.02;

/**
 * Starts the servers, the wallets, the gateway and the service; stops all if one fails.
 * @throws Error; the signal's reason if it aborted the start
 */
export async function openStage(
  cast: Cast,
  { progress, signal, configFolder = CONFIG_FOLDER }: StageOptions,
): Promise<Stage> {
  await using running = new AsyncDisposableStack();
  progress('starting PostgreSQL, Redis, two wallets and the bonus API');
  // Started in parallel. Each is put on the stack before it is awaited, so that none is left running.
  const starting = {
    postgres: stopping(running, startPostgres({ fast: true })),
    redis: stopping(running, startRedis({ log: progress })),
    alpha: closing(running, startCastWallet(cast, 'alpha')),
    beta: closing(running, startCastWallet(cast, 'beta')),
    bonusApi: closing(
      running,
      startBonusApi({ partners: [{ cid: SERVICE_CID, secrets: [cast.serviceSecret] }] }),
    ),
  };
  const [postgres, redis, alphaWallet, betaWallet, bonusApi] = await Promise.all([
    starting.postgres,
    starting.redis,
    starting.alpha,
    starting.beta,
    starting.bonusApi,
  ]);
  signal.throwIfAborted();
  const wallets = { alpha: alphaWallet, beta: betaWallet };

  progress('starting the gateway, which makes its tables');
  const environment = environmentOf(cast, { configFolder, postgres, redis, wallets, bonusApi });
  const gateway = await stopping(running, startGatewayProcess(environment));
  signal.throwIfAborted();

  const baseUrl = gateway.url;
  const service = createService({
    baseUrl,
    secret: cast.serviceSecret,
    retryScale: SERVICE_RETRY_SCALE,
    bonusApi,
  });
  const operators = {
    alpha: castOperator(cast, 'alpha', baseUrl),
    beta: castOperator(cast, 'beta', baseUrl),
  };
  running.defer(() => service.close());
  running.defer(() => operators.alpha.close());
  running.defer(() => operators.beta.close());
  const kept = running.move();
  return {
    cast,
    gateway,
    environment,
    service,
    bonusApi,
    wallets,
    operators,
    close: () => kept.disposeAsync(),
  };
}

function startCastWallet(cast: Cast, id: OperatorId): Promise<SimulatedWallet> {
  return startWallet({ name: id, secret: cast[id].walletSecret, players: seedsOf(cast, id) });
}

function castOperator(cast: Cast, id: OperatorId, baseUrl: string): SimulatedOperator {
  const { cid, apiSecret } = cast[id];
  return createOperator({ baseUrl, cid, secret: apiSecret });
}

/** The environment that `npm start` needs, and the variables of the example configuration. */
function environmentOf(
  cast: Cast,
  {
    configFolder,
    postgres,
    redis,
    wallets,
    bonusApi,
  }: {
    configFolder: string;
    postgres: EmbeddedServer;
    redis: EmbeddedServer;
    wallets: Stage['wallets'];
    bonusApi: SimulatedBonusApi;
  },
): Readonly<Record<string, string>> {
  return {
    // Printed for commands in another shell, whose PGSSLMODE is for another server.
    DATABASE_URL: `${postgres.url}?sslmode=disable`,
    REDIS_URL: redis.url,
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    ADMIN_TOKEN: cast.adminToken,
    GATEWAY_CONFIG: configFolder,
    ENCRYPTION_KEY: cast.encryptionKey,
    MIGRATE_ON_START: 'true',
    SERVICE_SECRET: cast.serviceSecret,
    SERVICE_BONUS_URL: bonusApi.url,
    ALPHA_WALLET_URL: wallets.alpha.baseUrl,
    ALPHA_WALLET_SECRET: cast.alpha.walletSecret,
    ALPHA_API_SECRET: cast.alpha.apiSecret,
    BETA_WALLET_URL: wallets.beta.baseUrl,
    BETA_WALLET_SECRET: cast.beta.walletSecret,
    BETA_API_SECRET: cast.beta.apiSecret,
  };
}

function stopping<T extends { stop(): Promise<void> }>(
  stack: AsyncDisposableStack,
  starting: Promise<T>,
): Promise<T> {
  return disposing(stack, starting, (started) => started.stop());
}

function closing<T extends { close(): Promise<void> }>(
  stack: AsyncDisposableStack,
  starting: Promise<T>,
): Promise<T> {
  return disposing(stack, starting, (started) => started.close());
}

/** What failed to start has cleaned up after itself, so there is nothing to dispose of. */
function disposing<T>(
  stack: AsyncDisposableStack,
  starting: Promise<T>,
  end: (started: T) => Promise<void>,
): Promise<T> {
  stack.defer(() => starting.then(end, () => undefined));
  return starting;
}
