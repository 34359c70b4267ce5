import { BreakerOverrides } from '../admin/breaker-overrides.ts';
import { createAdminServer } from '../admin/server.ts';
import { statesHere, statesIn } from '../admin/wallet-states.ts';
import { heldBecause } from '../deliveries/drain.ts';
import { deliverySettings } from '../engine/delivery-settings.ts';
import { hasDescriptors } from '../http/descriptors.ts';
import { Readiness } from '../http/health.ts';
import { within } from '../lib/within.ts';
import { BreakerOverrideStore } from '../store/breaker-override-store.ts';
import { DeliveryAdmin } from '../store/deliveries/delivery-admin.ts';
import { expositionText, type Family } from '../telemetry/exposition.ts';
import { ServerGauges } from '../telemetry/server-gauges.ts';
import type { Money } from './money.ts';
import type { Base } from './parts.ts';
import type { Storage } from './storage.ts';

/** A server that answers later than this is away, for a gauge. */
const SERVER_CHECK_MS = 1_000;

/** The processes that take callbacks behind this one's admin port (`WORKERS`). */
export interface OtherProcesses {
  /** This process's metrics and all of theirs, summed. */
  readonly families: () => Promise<readonly Family[]>;
  /** Whether each of them can still open a file or connection. */
  readonly haveDescriptors: () => boolean;
}

/** Health, metrics and the admin API, for the people who run it. */
export function createInternalListener(base: Base, storage: Storage, { wallets }: Money) {
  const { environment, source, clock, logger, metrics, configuration } = base;
  const { accelerator, isPostgresUp, prisma, timelines } = storage;
  const serverGauges = new ServerGauges(metrics, {
    postgresql: () => within(SERVER_CHECK_MS, isPostgresUp()),
    redis: () => accelerator.isAnswering(),
    redisPolicy: () => accelerator.evictionPolicy(),
    pools: storage.pools,
  });
  const overrides = new BreakerOverrides({
    store: new BreakerOverrideStore(storage.database),
    wallets,
    logger,
  });
  const deliveryAdmin = new DeliveryAdmin({
    prisma,
    isHeld: (operatorId) => heldBecause({ wallets }, operatorId) !== undefined,
    horizonHours: (operatorId) => deliverySettings(configuration(), operatorId).horizonHours,
  });
  /** @param others the other processes behind the admin port; default: there is none */
  const adminServer = (others?: OtherProcesses) => {
    const readiness = new Readiness({
      clock,
      checks: { postgresql: isPostgresUp, redis: () => accelerator.isAnswering() },
      hasDescriptors: async () =>
        (await hasDescriptors()) && (others === undefined || others.haveDescriptors()),
    });
    const app = createAdminServer({
      logger,
      adminToken: environment.adminToken,
      adminHosts: environment.adminHosts,
      configuration,
      timelines,
      deliveryAdmin,
      health: readiness,
      metrics: {
        contentType: metrics.registry.contentType,
        text: () => expositionText((others?.families ?? metrics.families)()),
      },
      walletStates: async () =>
        others === undefined ? statesHere(wallets) : statesIn(await others.families()),
      overrideOf: (operatorId, callClass) => overrides.get(operatorId, callClass),
      setBreaker: (operatorId, callClass, to) => overrides.set(operatorId, callClass, to),
      releaseGeneration: (operatorId, generation) => deliveryAdmin.release(operatorId, generation),
      reload: () => source.reload(),
    });
    return { app, readiness };
  };
  return { adminServer, overrides, close: () => serverGauges.close() };
}
