import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { stringify } from 'yaml';
import { compose, type Gateway } from '../../src/compose.ts';
import { readEnvironment } from '../../src/config/environment/environment.ts';
import { ConfigurationSource } from '../../src/config/source.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { databaseId } from '../../src/store/schema/journal-database.ts';
import { countReload, noteReading } from '../../src/telemetry/counting.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';
import { createOperator, type SimulatedOperator } from '../../tools/simulator/operator.ts';
import {
  createService,
  type ServicePlayer,
  type SimulatedService,
} from '../../tools/simulator/service.ts';
import { type SimulatedWallet, startWallet } from '../../tools/simulator/wallet/wallet.ts';
import { createDatabase } from './database.ts';
import { lentRedis } from './redis.ts';
import { PATIENT_MS } from './timing.ts';

type Settings = Readonly<Record<string, unknown>>;

export interface TestGatewayOptions {
  /** Merged into `gateway.yaml`, e.g. `{ deadline: { totalMs: 900 } }`. */
  readonly gateway?: Settings;
  /** Merged into each operator's file, by id; default: one operator `alpha`. */
  readonly operators?: Readonly<Record<string, Settings>>;
  /** Other addresses of the servers, such as those of a proxy. */
  readonly through?: (urls: { databaseUrl: string; redisUrl: string }) => Promise<{
    databaseUrl: string;
    redisUrl: string;
  }>;
  readonly clock?: Clock;
  /** Whether this gateway also delivers, and reads open bonus calls back. */
  readonly worker?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** A gateway in this process, on real servers, with a simulated wallet for each operator. */
export interface TestGateway {
  readonly baseUrl: string;
  readonly app: FastifyInstance;
  readonly parts: Gateway;
  readonly metrics: Metrics;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly databaseId: string;
  readonly configFolder: string;
  readonly service: SimulatedService;
  wallet(operatorId: string): SimulatedWallet;
  operator(operatorId: string): SimulatedOperator;
  /** A player with money and a live session, as the service sees it. */
  player(options?: {
    operatorId?: string;
    user?: string;
    currency?: string;
    balance?: string;
  }): Promise<ServicePlayer & { readonly user: string; readonly operatorToken: string }>;
  /** A second replica on the same servers. */
  replica(): Promise<TestGateway>;
  /** Applies the configuration folder. @throws Error if it is invalid */
  reload(): Promise<void>;
  /** Rewrites an operator's file with these settings merged into the test's own, and reloads. */
  reconfigure(operatorId: string, settings: Settings): Promise<void>;
  /** The sum of a metric's samples with at least these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  close(): Promise<void>;
}

export const SERVICE_SECRET = 'the-services-secret';

export async function startTestGateway(options: TestGatewayOptions = {}): Promise<TestGateway> {
  const { database, redis, wallets, configFolder, close } = await openSurroundings(options);
  const direct = { databaseUrl: database.url, redisUrl: redis.url };
  const urls = (await options.through?.(direct)) ?? direct;
  return await run(options, configFolder, urls, wallets, close);
}

/** Everything that a gateway needs: its own servers, a wallet for each operator, its configuration. */
export async function openSurroundings({
  gateway = {},
  operators = { alpha: {} },
}: Pick<TestGatewayOptions, 'gateway' | 'operators'>) {
  const database = await createDatabase();
  const redis = await lentRedis();
  const wallets = new Map<string, SimulatedWallet>();
  for (const id of Object.keys(operators)) {
    wallets.set(id, await startWallet({ name: id, secret: `${id}-wallet-secret` }));
  }
  const configFolder = await writeConfiguration(gateway, operators, wallets);
  const close = async () => {
    await Promise.all([...wallets.values()].map((wallet) => wallet.close()));
    await rm(configFolder, { recursive: true, force: true });
    await redis.giveBack();
    await database.drop();
  };
  return { database, redis, wallets, configFolder, close };
}

async function run(
  options: TestGatewayOptions,
  configFolder: string,
  urls: { databaseUrl: string; redisUrl: string },
  wallets: ReadonlyMap<string, SimulatedWallet>,
  cleanUp: () => Promise<void>,
): Promise<TestGateway> {
  const clock = options.clock ?? systemClock;
  const logger = pino({ level: process.env.TEST_LOG ?? 'info' }, { write: printed });
  const metrics = createMetrics();
  const env = { SERVICE_SECRET, ...options.env };
  const source = new ConfigurationSource({
    folder: configFolder,
    env,
    logger,
    onReload: ({ result }) => countReload(metrics, result, source.invalidFiles),
  });
  noteReading(metrics, source.invalidFiles);
  const environment = readEnvironment({
    DATABASE_URL: urls.databaseUrl,
    REDIS_URL: urls.redisUrl,
    GATEWAY_CONFIG: configFolder,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...options.env,
  });
  const ownId = await databaseId(environment.databaseUrl);
  const parts = compose({ environment, databaseId: ownId, source, clock, logger, metrics });
  await parts.accelerator.connected(5_000);
  const worker = options.worker === true ? parts.deliveryWorker() : undefined;
  const readBack = options.worker === true ? parts.bonusReadBack() : undefined;
  worker?.start();
  readBack?.start();
  const app = parts.publicServer();
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  // As patient as a busy machine needs: tests check the duration of a callback by the gateway's own measure.
  const patience = { timeoutMs: 2 * PATIENT_MS };
  const service = createService({ baseUrl, secret: SERVICE_SECRET, retryScale: 0, ...patience });
  const walletOf = (id: string) => {
    const wallet = wallets.get(id);
    if (wallet === undefined) throw new Error(`no operator ${id} in this test`);
    return wallet;
  };
  const operatorOf = (id: string) =>
    createOperator({
      ...{ baseUrl, cid: `${id}-key`, secret: `${id}-api-secret-that-is-long-enough` },
      ...patience,
    });
  let players = 0;
  const replicas: TestGateway[] = [];
  const reload = async () => {
    const { problems } = await source.reload();
    if (problems.length > 0) throw new Error(`invalid: ${JSON.stringify(problems)}`);
  };

  return {
    baseUrl,
    app,
    parts,
    metrics,
    ...urls,
    databaseId: ownId,
    configFolder,
    service,
    wallet: walletOf,
    operator: operatorOf,
    player: async ({ operatorId = 'alpha', user, currency = 'USD', balance = '1000' } = {}) => {
      players += 1;
      const name = user ?? `player-${players}`;
      const operatorToken = `operator-token-${name}-${currency}-${players}`;
      walletOf(operatorId).addPlayer({
        user: name,
        balances: { [currency]: balance },
        tokens: { [operatorToken]: currency },
      });
      const operator = operatorOf(operatorId);
      const opened = await operator.openSession({ operatorUser: name, currency, operatorToken });
      await operator.close();
      if (opened.session === undefined) throw new Error(`no session: ${opened.body}`);
      const { userId, token } = opened.session;
      return { userId, token, currency, user: name, operatorToken };
    },
    replica: async () => {
      const other = await run(options, configFolder, urls, wallets, async () => undefined);
      replicas.push(other);
      return other;
    },
    reload,
    reconfigure: async (id, settings) => {
      const own = merge(options.operators?.[id] ?? {}, settings);
      const file = operatorFile(id, walletOf(id).baseUrl, own);
      await replaceFile(join(configFolder, 'operators', `${id}.yaml`), stringify(file));
      await reload();
    },
    metric: async (name, labels = {}) => {
      const found = await metrics.registry.getSingleMetric(name)?.get();
      const matching = (found?.values ?? []).filter((sample) =>
        Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      );
      return matching.reduce((sum, sample) => sum + sample.value, 0);
    },
    close: async () => {
      await Promise.all(replicas.map((other) => other.close()));
      await service.close();
      await app.close();
      await Promise.all([worker?.close(), readBack?.close()]);
      await parts.close();
      await cleanUp();
    },
  };
}

/** `TEST_LOG` prints all lines. */
function printed(line: string): void {
  if (process.env.TEST_LOG !== undefined) process.stdout.write(line);
}

/** Replaces the file in one step: the watcher must not read half of it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

/** Writes a complete configuration folder for these wallets. @returns its path */
export async function writeConfiguration(
  gateway: Settings,
  operators: Readonly<Record<string, Settings>>,
  wallets: ReadonlyMap<string, SimulatedWallet>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wagergate-config-'));
  await mkdir(join(folder, 'operators'));
  const gatewayFile = merge(
    {
      service: {
        cid: 'aggregator-key',
        secrets: [SERVICE_SECRET],
        bonusApiUrl: 'http://127.0.0.1:9',
      },
    },
    gateway,
  );
  await writeFile(join(folder, 'gateway.yaml'), stringify(gatewayFile));
  for (const [id, settings] of Object.entries(operators)) {
    await writeFile(
      join(folder, 'operators', `${id}.yaml`),
      stringify(operatorFile(id, wallets.get(id)?.baseUrl ?? '', settings)),
    );
  }
  return folder;
}

/** A complete operator file for a test, with the test's own settings merged in. */
export function operatorFile(id: string, baseUrl: string, settings: Settings = {}): Settings {
  return merge(
    {
      id,
      name: id,
      wallet: { baseUrl, allowPrivate: true, secrets: [`${id}-wallet-secret`] },
      api: { cid: `${id}-key`, secrets: [`${id}-api-secret-that-is-long-enough`] },
      currencies: ['USD', 'EUR'],
    },
    settings,
  );
}

function merge(base: Settings, over: Settings): Settings {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isSettings(before) && isSettings(value) ? merge(before, value) : value;
  }
  return merged;
}

function isSettings(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
