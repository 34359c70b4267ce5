import type { FastifyInstance } from 'fastify';
import { compose } from '../compose.ts';
import type { Environment } from '../config/environment/environment.ts';
import type { ConfigurationSource } from '../config/source.ts';
import { systemClock } from '../domain/clock.ts';
import { GatewayError } from '../domain/errors.ts';
import { openStartingListener } from '../http/starting-listener.ts';
import { errorMessage } from '../lib/faults.ts';
import { within } from '../lib/within.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import type { OtherProcesses } from '../wiring/internal-listener.ts';
import { awaitDatabase, greetRedis } from './start-up.ts';

/** Requests in flight at SIGTERM have this long to finish (docs/reference.md, Commands). */
const DRAIN_MS = 10_000;
/** Connections to a server that has gone silent never close; the process ends without them. */
const CLOSE_MS = 1_000;
/** How long a draining process keeps an idle connection: its client may have sent the next request already. */
const IDLE_MS = 500;
/** How many connections may wait to be accepted; Linux allows 4,096. */
const BACKLOG = 4_096;

export interface ProcessOptions {
  readonly environment: Environment;
  readonly source: ConfigurationSource;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  /** The id of the database, from the parent, which has checked it; undefined: this process does all that. */
  readonly databaseId?: string;
  readonly opensAdmin: boolean;
  /** Starts what else must run before this process is ready, such as its workers, on this database. */
  readonly beforeReady?: (databaseId: string) => Promise<void>;
  /** The other processes behind the admin port, if there are any. */
  readonly others?: OtherProcesses;
}

export interface GatewayProcess {
  /**
   * Stops accepting, finishes what is in flight, closes everything.
   * @param others until this resolves, or the time is over, the admin port answers for the other processes
   */
  stop(others?: Promise<void>): Promise<void>;
}

/** Starts one process of the gateway in its roles. @throws GatewayError `CANNOT_START` for people */
export async function startProcess(options: ProcessOptions): Promise<GatewayProcess> {
  const { environment, source, logger, metrics, tracing } = options;
  const clock = systemClock;
  const databaseId = options.databaseId ?? (await databaseWhileStarting(options));
  const parts = compose({ environment, databaseId, source, clock, logger, metrics, tracing });
  const admin = options.opensAdmin ? parts.adminServer(options.others) : undefined;
  if (admin !== undefined) {
    const address = await listening(adminAddress(environment), (at) => admin.app.listen(at));
    logger.info({ address }, 'gateway.admin_listening');
  }
  await greetRedis(environment, parts, logger);
  if (environment.encryptionKeys === undefined) {
    logger.warn(
      { note: 'tokens are stored as they are; set ENCRYPTION_KEY' },
      'start.no_encryption_key',
    );
  }
  await parts.overrides.start();
  source.watch();

  let app: FastifyInstance | undefined;
  let closeApp: (() => Promise<void>) | undefined;
  if (environment.roles.has('http')) {
    const opened = parts.publicServer();
    app = opened;
    closeApp = gentleClose(opened);
    const at = { host: environment.host, port: environment.port, variables: 'HOST, PORT' };
    const address = await listening(at, (where) => opened.listen(where));
    logger.info({ address }, 'gateway.listening');
  }
  // The last step that is awaited: an interrupted start must not leave a delivery half done.
  await options.beforeReady?.(databaseId);
  const background = environment.roles.has('worker') ? parts.duties() : [];
  for (const duty of background) duty.start();
  admin?.readiness.started();
  logger.info({ roles: [...environment.roles], databaseId }, 'gateway.started');

  return {
    stop: async (others) => {
      logger.info('gateway.draining');
      admin?.readiness.draining();
      source.close();
      parts.overrides.close();
      const ended = background.map((duty) => duty.close());
      // What people have asked for, such as a retry of thousands, is done whole as well.
      const asked = admin?.app.underWay.ended();
      const drained = Promise.all([closeApp?.(), ...ended, others, asked]);
      await within(DRAIN_MS, drained).catch((error: unknown) => {
        logger.warn({ err: error }, 'gateway.drain_cut_short');
        app?.server.closeAllConnections();
      });
      await closeAll([admin?.app.close(), parts.close(), tracing.close()], logger);
      logger.info('gateway.stopped');
    },
  };
}

/** Prepares a server, before it listens, to be closed without losing requests on their way. */
function gentleClose(app: FastifyInstance): () => Promise<void> {
  let isClosing = false;
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
  return async () => {
    isClosing = true;
    const { server } = app;
    const closeIdle = server.closeIdleConnections.bind(server);
    // Node and Fastify would close them at once.
    server.closeIdleConnections = () => {
      setTimeout(() => setImmediate(closeIdle), IDLE_MS).unref();
    };
    await app.close();
  };
}

/** Waits at most `CLOSE_MS`. */
async function closeAll(closing: readonly unknown[], logger: Logger): Promise<void> {
  try {
    await within(CLOSE_MS, Promise.all(closing));
  } catch (error) {
    logger.warn({ err: error }, 'gateway.not_all_closed');
  }
}

/** Answers probes meanwhile. @throws GatewayError `CANNOT_START` as `awaitDatabase` does, or for want of the port */
async function databaseWhileStarting({ environment, opensAdmin, logger }: ProcessOptions) {
  const awaited = () => awaitDatabase(environment, systemClock, logger);
  // Nobody can know a port that the system chooses.
  if (!opensAdmin || environment.adminPort === 0) return await awaited();
  const close = await listening(adminAddress(environment), openStartingListener);
  try {
    return await awaited();
  } finally {
    await close();
  }
}

/** Where to listen, and the variables that say so. */
interface Address {
  readonly host: string;
  readonly port: number;
  readonly variables: string;
}

function adminAddress({ adminHost: host, adminPort: port }: Environment): Address {
  return { host, port, variables: 'ADMIN_HOST, ADMIN_PORT' };
}

/** @throws GatewayError `CANNOT_START` when it cannot listen on the address */
async function listening<T>(
  { host, port, variables }: Address,
  listen: (at: { host: string; port: number; backlog: number }) => Promise<T>,
): Promise<T> {
  try {
    return await listen({ host, port, backlog: BACKLOG });
  } catch (error) {
    const why = errorMessage(error);
    const where = `${host}:${port} (${variables})`;
    throw new GatewayError('CANNOT_START', `cannot listen on ${where}: ${why}`, { cause: error });
  }
}
