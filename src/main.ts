import cluster from 'node:cluster';
import { answerForMetrics, HttpWorkers } from './cluster.ts';
import { type Environment, readEnvironment } from './config/environment.ts';
import { ConfigError } from './config/problems.ts';
import { ConfigurationSource } from './config/source.ts';
import { GatewayError } from './domain/errors.ts';
import { type GatewayProcess, startProcess } from './gateway-process.ts';
import { MigrationError } from './store/schema/migrate.ts';
import { countReload, noteReading } from './telemetry/counting.ts';
import { createLogger, type Logger } from './telemetry/logger.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { startTracing } from './telemetry/tracing.ts';

/** The process: environment in, compose, listen, drain on SIGTERM. */
async function main(): Promise<void> {
  const environment = readEnvironment(process.env);
  const logger = createLogger(environment.logLevel);
  process.on('unhandledRejection', (error) => crash(logger, error));
  process.on('uncaughtException', (error) => crash(logger, error));
  // From the first moment: as process 1 of a container it would not be ended by default.
  let running: GatewayProcess | undefined;
  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    const stopped = running === undefined ? Promise.resolve() : running.stop();
    void stopped.then(() => logger.flush(() => process.exit(0)));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  running = await start(environment, logger);
}

async function start(environment: Environment, logger: Logger): Promise<GatewayProcess> {
  const metrics = createMetrics();
  metrics.collectProcessMetrics();
  const source = new ConfigurationSource({
    folder: environment.configFolder,
    env: process.env,
    logger,
    onReload: (reload) => countReload(metrics, reload),
  });
  noteReading(metrics, true);
  process.on('SIGHUP', () => void source.reload());
  const tracing = await startTracing(
    environment.tracing && {
      ...environment.tracing,
      onFailure: (why) => logger.warn({ why }, 'tracing.not_exported'),
    },
  );
  const common = { source, logger, metrics, tracing };

  if (cluster.isWorker) {
    answerForMetrics(metrics);
    return await startProcess({
      ...common,
      environment: { ...environment, roles: new Set(['http']) },
      checksServers: false,
      opensAdmin: false,
    });
  }
  const forks = environment.workers > 1 && environment.roles.has('http');
  if (!forks) {
    return await startProcess({
      ...common,
      environment,
      checksServers: true,
      opensAdmin: true,
    });
  }
  const workers = new HttpWorkers(logger);
  const own = await startProcess({
    ...common,
    environment: { ...environment, roles: withoutHttp(environment) },
    checksServers: true,
    opensAdmin: true,
    beforeReady: () => workers.start(environment.workers),
    allFamilies: () => workers.families(metrics),
  });
  return { stop: async () => void (await Promise.all([workers.stop(), own.stop()])) };
}

function withoutHttp(environment: Environment): Environment['roles'] {
  return new Set([...environment.roles].filter((role) => role !== 'http'));
}

/** A broken invariant: nothing that follows could be trusted. The supervisor starts anew. */
function crash(logger: Logger, error: unknown): void {
  logger.fatal({ err: error }, 'gateway.crashed');
  logger.flush(() => process.exit(1));
}

main().catch((error: unknown) => {
  const expected =
    error instanceof GatewayError ||
    error instanceof ConfigError ||
    error instanceof MigrationError;
  process.stderr.write(`wagergate: ${expected ? error.message : describe(error)}\n`);
  process.exit(1);
});

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
