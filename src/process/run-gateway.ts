import cluster from 'node:cluster';
import { type Environment, readEnvironment } from '../config/environment/environment.ts';
import { ConfigError } from '../config/problems.ts';
import { ConfigurationSource } from '../config/source.ts';
import { GatewayError } from '../domain/errors.ts';
import { MigrationError } from '../store/schema/migrate.ts';
import { countReload, noteReading } from '../telemetry/counting.ts';
import { createLogger, endLogged, type Logger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { noTracing, type Tracing } from '../telemetry/tracing.ts';
import { type GatewayProcess, type ProcessOptions, startProcess } from './gateway-process.ts';
import { answerParent, fromParent, reportFailedStart } from './worker-talk.ts';
import { HttpWorkers } from './workers.ts';

/**
 * Runs the gateway in this process. A failed start exits with 1, after a line on stderr or to the parent.
 * @returns stops it in order, at any time, and exits with 0
 */
export function runGateway(): () => void {
  const started: Started = { workers: undefined, own: undefined };
  let stopping = false;
  let logger: Logger | undefined;
  const fail = async (error: unknown) => {
    // It is stopping already: an error of the interrupted start is no news.
    if (stopping) return;
    stopping = true;
    if (cluster.isWorker) await reportFailedStart(describe(error));
    else process.stderr.write(`wagergate: ${describe(error)}\n`);
    if (logger === undefined) process.exit(1);
    endLogged(logger, 1);
  };
  try {
    const environment = readEnvironment(process.env);
    logger = createLogger(environment.logLevel, cluster.isWorker ? { pid: process.pid } : null);
    crashLoudly(logger);
    start(environment, logger, started).catch(fail);
  } catch (error) {
    void fail(error);
  }
  return () => {
    if (stopping) return;
    stopping = true;
    const workers = started.workers?.stop();
    const stopped = Promise.all([workers, started.own?.stop(workers)]);
    void stopped.then(() => {
      if (logger === undefined) process.exit(0);
      endLogged(logger, 0);
    });
  };
}

/** What has started and must be drained; a start that is interrupted earlier leaves nothing behind. */
interface Started {
  workers: HttpWorkers | undefined;
  own: GatewayProcess | undefined;
}

async function start(environment: Environment, logger: Logger, started: Started): Promise<void> {
  const metrics = createMetrics();
  metrics.collectProcessMetrics();
  const parent = cluster.isWorker ? await fromParent() : undefined;
  const source = new ConfigurationSource({
    folder: environment.configFolder,
    env: process.env,
    logger,
    onReload: ({ result }) => countReload(metrics, result, source.invalidFiles),
    lastGood: parent?.inForce,
    others: async () => (await started.workers?.reload()) ?? [],
  });
  if (parent !== undefined) {
    answerParent({
      metrics: () => metrics.registry.getMetricsAsJSON(),
      reload: async () => (await source.reload()).problems,
    });
  }
  noteReading(metrics, source.invalidFiles);
  process.on('SIGHUP', () => void source.reload());
  const tracing = await tracingOf(environment, logger);
  const common = { source, logger, metrics, tracing };

  if (parent !== undefined) {
    started.own = await startProcess({
      ...common,
      environment: { ...environment, roles: new Set(['http']) },
      databaseId: parent.databaseId,
      opensAdmin: false,
    });
    return;
  }
  started.own = await startFirst({ ...common, environment, opensAdmin: true }, started);
}

/** OpenTelemetry's packages are loaded only if tracing is configured. */
async function tracingOf({ tracing }: Environment, logger: Logger): Promise<Tracing> {
  if (tracing === undefined) return noTracing;
  const { createOtlpTracing } = await import('../telemetry/tracing-otlp.ts');
  const onFailure = (why: string) => logger.warn({ why }, 'tracing.not_exported');
  return createOtlpTracing({ ...tracing, onFailure });
}

/** The process that was started from outside: the only one, or the parent of those that take callbacks. */
async function startFirst(first: ProcessOptions, started: Started): Promise<GatewayProcess> {
  const { environment, source, logger, metrics } = first;
  const forks = environment.workers > 1 && environment.roles.has('http');
  if (!forks) return await startProcess(first);
  const workers = new HttpWorkers(logger, () => source.inForce);
  return await startProcess({
    ...first,
    environment: { ...environment, roles: environment.roles.difference(new Set(['http'])) },
    beforeReady: (databaseId) => {
      // From here on the workers take callbacks, even before the last of them listens.
      started.workers = workers;
      return workers.start(environment.workers, databaseId);
    },
    others: {
      registry: () => workers.registry(metrics),
      takeCallbacks: () => workers.takeCallbacks(),
    },
  });
}

/** An uncaught error is a broken invariant: nothing after it can be trusted. The supervisor restarts the process. */
function crashLoudly(logger: Logger): void {
  const crash = (error: unknown) => {
    logger.fatal({ err: error }, 'gateway.crashed');
    endLogged(logger, 1);
  };
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
}

function describe(error: unknown): string {
  const isExpected =
    error instanceof GatewayError ||
    error instanceof ConfigError ||
    error instanceof MigrationError;
  if (isExpected) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
