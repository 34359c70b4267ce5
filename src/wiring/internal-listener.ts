import { fileURLToPath } from 'node:url';
import type { Registry } from 'prom-client';
import { readConsoleFiles } from '../admin/console-files.ts';
import { statesHere, statesIn } from '../admin/operators/wallet-states.ts';
import { createAdminServer } from '../admin/server.ts';
import { Readiness } from '../http/health.ts';
import { within } from '../lib/within.ts';
import { LastHour } from '../telemetry/last-hour.ts';
import { expositionText } from '../telemetry/metrics.ts';
import { ServerGauges } from '../telemetry/server-gauges.ts';
import { createAdminDependencies } from './admin-dependencies.ts';
import type { Money } from './money.ts';
import type { Base } from './parts.ts';
import { createPeople } from './people.ts';
import type { Storage } from './storage.ts';

/** The gauge shows a server that answers later than this as away. */
const SERVER_CHECK_MS = 1_000;

/** The processes that take callbacks behind this one's admin port (`WORKERS`). */
export interface OtherProcesses {
  /** This process's metrics and all of theirs, summed. */
  readonly registry: () => Promise<Registry>;
  /** Whether any of them listens and works. */
  readonly takeCallbacks: () => boolean;
}

/** Where `npm ci` and the image build it. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../dist/console', import.meta.url));

/** Health, metrics and the admin API, for the people who run the gateway. */
export function createInternalListener(base: Base, storage: Storage, money: Money) {
  const { environment, clock, logger, metrics, configuration } = base;
  const { accelerator, postgresTakesWrites } = storage;
  const serverGauges = new ServerGauges(metrics, {
    postgresql: () => within(SERVER_CHECK_MS, postgresTakesWrites()),
    redis: () => accelerator.isAnswering(),
    waiting: () => storage.pools().reduce((sum, { waiting }) => sum + waiting, 0),
  });
  const { overrides, reloads, dependencies, reconciler } = createAdminDependencies(
    base,
    storage,
    money,
  );
  let stopWatching: (() => void) | undefined;
  let lastHour: LastHour | undefined;
  /** @param others the other processes behind the admin port; default: there are none */
  const adminServer = (others?: OtherProcesses) => {
    stopWatching ??= reloads.watch();
    const registry = async () => (await others?.registry()) ?? metrics.registry;
    lastHour ??= new LastHour(clock, registry, (error) =>
      logger.warn({ err: error }, 'admin.last_hour_not_counted'),
    );
    lastHour.start();
    const readiness = new Readiness({
      clock,
      checks: {
        postgresql: async () => ((await postgresTakesWrites()) ? true : 'read_only'),
        redis: () => accelerator.isAnswering(),
      },
      invalidFiles: () => base.source.invalidFiles,
      ...(others && { takesCallbacks: others.takeCallbacks }),
    });
    const app = createAdminServer({
      clock,
      logger,
      people: createPeople(base, storage),
      adminHosts: environment.adminHosts,
      trustProxy: environment.adminTrustProxy,
      consoleFiles: readConsoleFiles(CONSOLE_FOLDER),
      configuration,
      ...dependencies,
      lastHour,
      health: readiness,
      metrics: {
        contentType: metrics.registry.contentType,
        text: () => expositionText(registry()),
      },
      walletStates: async () =>
        others === undefined ? statesHere(money.wallets) : await statesIn(await registry()),
    });
    return { app, readiness };
  };
  const close = async () => {
    stopWatching?.();
    lastHour?.close();
    serverGauges.close();
    await reconciler.close();
  };
  return { adminServer, overrides, close };
}
