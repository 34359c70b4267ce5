import type { Configuration } from '../config/schema/schema.ts';
import { DeliveryWorker } from '../deliveries/worker.ts';
import { LiveCalls } from '../domain/live-calls.ts';
import { BetChanges } from '../operations/bet-changes.ts';
import type { Callbacks } from '../operations/callbacks.ts';
import { RefusedReads } from '../operations/refused-reads.ts';
import { RepairedAnswers } from '../operations/repaired-answers.ts';
import { Resealing, type ResealProgress } from '../sessions/resealing.ts';
import { SessionCache } from '../sessions/session-cache.ts';
import { Sessions } from '../sessions/sessions.ts';
import { TokenVault } from '../sessions/token-vault.ts';
import { Confirmations } from '../store/deliveries/confirmations.ts';
import { DeliveryStore } from '../store/deliveries/queue.ts';
import { SessionSeals } from '../store/sessions/session-seals.ts';
import { SessionStore } from '../store/sessions/session-store.ts';
import { countFromZero } from '../telemetry/counting.ts';
import { sampler } from '../telemetry/logger.ts';
import { createWallets, type Wallets } from '../wallets/wallets.ts';
import type { Base } from './parts.ts';
import type { Storage } from './storage.ts';

export type Money = ReturnType<typeof createMoney>;

/** Sessions, wallets, and what sends operations to wallets: callbacks at once, deliveries later. */
export function createMoney(base: Base, storage: Storage) {
  const { environment, databaseId, clock, logger, metrics, tracing, configuration } = base;
  const { database, journalDatabase } = storage;
  const vault = new TokenVault(environment.encryptionKeys);
  const sessions = new Sessions({
    store: new SessionStore(database),
    cache: new SessionCache(storage.accelerator, databaseId, vault),
    vault,
    clock,
    logger,
  });

  const wallets = createOperatorWallets(base);

  // A missing gauge says nothing; a gauge at 0 says that nothing waits.
  showTokensBehind(metrics, { waiting: 0, unopenable: 0 });

  const { players, places, bets, answers } = storage;
  const callbacks: Callbacks = {
    clock,
    logger,
    metrics,
    configuration,
    tracing,
    players,
    places,
    bets,
    answers,
    sessions,
    wallets,
    confirmations: new Confirmations(database),
    changes: new BetChanges(),
    liveCalls: new LiveCalls(clock),
    refusedReads: new RefusedReads({ clock, wallets, metrics }),
    repairedAnswers: new RepairedAnswers({ clock, logger, metrics }),
    logsRead: sampler(environment.logReadsShare),
  };
  return {
    sessions,
    wallets,
    callbacks,
    deliveryWorker: () =>
      new DeliveryWorker(
        {
          ...callbacks,
          store: new DeliveryStore(database, journalDatabase),
          backlog: storage.backlog,
          hasLiveCalls: environment.roles.has('http'),
        },
        { redisUrl: environment.redisUrl, databaseId },
      ),
    ...createTokenDuties(base, storage, vault),
  };
}

/** Encrypts stored tokens again after a change of keys, and counts those that no key opens. */
function createTokenDuties({ logger, metrics }: Base, { database }: Storage, vault: TokenVault) {
  const seals = new SessionSeals(database);
  const onProgress = (progress: ResealProgress) => showTokensBehind(metrics, progress);
  const parts = { seals, vault, logger, onProgress };
  return {
    resealing: () => new Resealing(parts),
  };
}

/** The wallets of the configured operators and their metrics; both follow the configuration. */
function createOperatorWallets(base: Base): Wallets {
  const { source, clock, logger, metrics, tracing, configuration } = base;
  const evidence = () => configuration().gateway.evidence;
  const wallets = createWallets({ metrics, logger, clock, tracing, evidence });
  const applyOperators = ({ operators, invalidOperators }: Configuration) => {
    wallets.apply(operators.values());
    countFromZero(metrics, operators.keys());
    metrics.operatorInfo.reset();
    for (const { id, status } of operators.values()) {
      metrics.operatorInfo.set({ operator: id, status }, 1);
    }
    for (const operator of invalidOperators) {
      metrics.operatorInfo.set({ operator, status: 'maintenance' }, 1);
    }
  };
  applyOperators(configuration());
  source.onChange(applyOperators);
  return wallets;
}

function showTokensBehind(
  { tokensBehind }: Base['metrics'],
  { waiting, unopenable }: ResealProgress,
): void {
  tokensBehind.set({ state: 'waiting' }, waiting);
  tokensBehind.set({ state: 'unopenable' }, unopenable);
}
