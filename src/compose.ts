import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { BreakerOverrides } from './admin/breaker-overrides.ts';
import { createAdminServer } from './admin/server.ts';
import { statesHere, statesIn } from './admin/wallet-states.ts';
import type { Bonuses } from './bonuses/context.ts';
import { BonusReadBack } from './bonuses/read-back/read-back.ts';
import { bonusRoutes } from './bonuses/routes.ts';
import { Accounts } from './bonuses/service/account.ts';
import { BonusService } from './bonuses/service/client.ts';
import type { Callbacks } from './callbacks/context.ts';
import { RefusedReads } from './callbacks/refused-reads.ts';
import { callbackRoutes } from './callbacks/routes.ts';
import { StrangerLog } from './callbacks/stranger-log.ts';
import type { Environment } from './config/environment.ts';
import type { Configuration } from './config/schema.ts';
import type { ConfigurationSource } from './config/source.ts';
import { heldBecause } from './deliveries/drain.ts';
import { DeliveryWorker } from './deliveries/worker.ts';
import type { Clock } from './domain/clock.ts';
import { BetChanges } from './engine/bet-changes.ts';
import { deliverySettings } from './engine/delivery-settings.ts';
import { addressMatcher, EventLoopLag } from './http/arrival.ts';
import { hasDescriptors } from './http/descriptors.ts';
import { Readiness } from './http/health.ts';
import { createPublicServer } from './http/public-server.ts';
import { within } from './lib/within.ts';
import { openApiRoute } from './openapi/document.ts';
import { OperatorGate } from './operators/request.ts';
import { operatorRoutes } from './operators/routes.ts';
import { signingKeys } from './protocol/signature.ts';
import { Accelerator } from './redis/accelerator.ts';
import { AnswerCache } from './redis/answer-cache.ts';
import { Resealing } from './sessions/resealing.ts';
import { SessionCache } from './sessions/session-cache.ts';
import { Sessions } from './sessions/sessions.ts';
import { TokenVault } from './sessions/token-vault.ts';
import { BetJournal } from './store/bets/journal.ts';
import { PlaceJournal } from './store/bets/place-journal.ts';
import { BetTimelines } from './store/bets/timeline.ts';
import { BonusGrants } from './store/bonuses/grants.ts';
import { BonusIntents } from './store/bonuses/intents.ts';
import { BonusOwnership } from './store/bonuses/ownership.ts';
import { BonusPlayers } from './store/bonuses/players.ts';
import { BonusWalks } from './store/bonuses/walks.ts';
import { BreakerOverrideStore } from './store/breaker-override-store.ts';
import { Database } from './store/database.ts';
import { DatabaseClock } from './store/database-clock.ts';
import { Confirmations } from './store/deliveries/confirmations.ts';
import { DeliveryAdmin } from './store/deliveries/delivery-admin.ts';
import { DeliveryStore } from './store/deliveries/queue.ts';
import { JournalMonths } from './store/schema/journal-months.ts';
import { createPrisma } from './store/schema/prisma.ts';
import { Nonces } from './store/sessions/nonces.ts';
import { Players } from './store/sessions/players.ts';
import { SessionSeals } from './store/sessions/session-seals.ts';
import { SessionStore } from './store/sessions/session-store.ts';
import { noRow, statement } from './store/statement.ts';
import { countFromZero } from './telemetry/counting.ts';
import { expositionText, type Family } from './telemetry/exposition.ts';
import { type Logger, sampler } from './telemetry/logger.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { ServerGauges } from './telemetry/server-gauges.ts';
import { noTracing, type Tracing, tracedMethods } from './telemetry/tracing.ts';
import { createWallets } from './wallets/wallets.ts';

export interface Parts {
  readonly environment: Environment;
  readonly source: ConfigurationSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Default: none. */
  readonly tracing?: Tracing;
}

export type Gateway = ReturnType<typeof compose>;

/** Everything of one process, built and wired; nothing listens or works yet. */
export function compose(parts: Parts) {
  const { environment, source, clock, logger, metrics, tracing = noTracing } = parts;
  const configuration = () => source.current;

  const onIdleError = (error: Error) => logger.warn({ err: error }, 'database.connection_lost');
  const url = environment.databaseUrl;
  const database = new Database({ url, connectionsMax: CONNECTIONS, onIdleError });
  const placesDatabase = new Database({
    url,
    connectionsMax: PLACE_CONNECTIONS,
    plans: 'kept',
    onIdleError,
  });
  const databaseClock = new DatabaseClock(database, clock);
  databaseClock.start();
  const prisma = createPrisma(environment.databaseUrl);
  const journal = ['find', 'commit', 'finish'] as const;
  const places = tracedMethods(
    tracing,
    'journal',
    new PlaceJournal(placesDatabase, databaseClock),
    ['begin', 'finish'],
  );
  const bets = tracedMethods(tracing, 'journal', new BetJournal(database, databaseClock), journal);
  const players = new Players(database);
  const timelines = new BetTimelines(prisma);

  const accelerator = new Accelerator({
    url: environment.redisUrl,
    prefix: 'wagergate:',
    clock,
    logger,
  });
  const answers = new AnswerCache(
    accelerator,
    clock,
    () => configuration().gateway.idempotency.ttlSeconds * 1000,
  );

  const vault = new TokenVault(environment.encryptionKeys);
  const sessions = new Sessions({
    store: new SessionStore(database),
    cache: new SessionCache(accelerator, vault),
    vault,
    clock,
    logger,
  });

  const wallets = createWallets({ metrics, logger, clock, tracing });
  const applyOperators = ({ operators }: Configuration) => {
    wallets.apply(operators.values());
    countFromZero(metrics, operators.keys());
    metrics.operatorInfo.reset();
    for (const { id, status } of operators.values()) {
      metrics.operatorInfo.set({ operator: id, status }, 1);
    }
  };
  applyOperators(configuration());
  source.onChange(applyOperators);

  const callbacks: Callbacks = {
    clock,
    logger,
    metrics,
    configuration,
    sessions,
    players,
    places,
    bets,
    answers,
    wallets,
    changes: new BetChanges(),
    refusedReads: new RefusedReads({ clock, wallets, metrics }),
    tracing,
    logsRead: sampler(environment.logReadsShare),
  };

  const bonusService = new BonusService({
    clock,
    logger,
    settings: () => configuration().gateway.service,
  });
  const bonuses: Bonuses = {
    clock,
    logger,
    configuration,
    accounts: new Accounts(configuration),
    service: bonusService,
    ownership: new BonusOwnership(database),
    intents: new BonusIntents(database),
    players: new BonusPlayers(database),
  };
  const bonusReadBack = () =>
    new BonusReadBack({
      ...bonuses,
      metrics,
      walks: new BonusWalks(database),
      grants: new BonusGrants(database),
    });

  const lag = new EventLoopLag(clock);
  const publicServer = (): FastifyInstance => {
    const app = createPublicServer({
      clock,
      logger,
      lag,
      trustProxy: () => configuration().gateway.service.trustProxy,
      connectionLimits: () => configuration().gateway.http,
      onClosed: (reason) => metrics.connectionsClosed.inc({ reason }),
      requestTimeoutMs: requestTimeoutMs(configuration()),
    });
    callbackRoutes(app, callbacks, {
      serviceKeys: whileSame(() => configuration().gateway.service.secrets, signingKeys),
      isAllowed: allowedBy(() => configuration().gateway.service.allowedIps),
      strangers: new StrangerLog(clock),
    });
    const gate = new OperatorGate({
      configuration,
      metrics,
      clock,
      nonces: new Nonces(database, clock),
      addressMatcher: listMatcher,
    });
    operatorRoutes(app, { gate, sessions, players, timelines });
    bonusRoutes(app, { gate, bonuses, metrics });
    openApiRoute(app);
    source.onChange((changed) => {
      app.server.requestTimeout = requestTimeoutMs(changed);
      // Where headers may take longer, Node gives the body that time too.
      app.server.headersTimeout = requestTimeoutMs(changed);
    });
    return app;
  };

  const deliveryWorker = () =>
    new DeliveryWorker(
      {
        ...callbacks,
        store: new DeliveryStore(database),
        confirmations: new Confirmations(database),
      },
      environment.redisUrl,
    );

  const isPostgresUp = async () => (await database.run(PING, {})).length === 1;
  const serverGauges = new ServerGauges(metrics, {
    postgresql: () => within(SERVER_CHECK_MS, isPostgresUp()),
    redis: () => accelerator.isAnswering(),
    redisPolicy: () => accelerator.evictionPolicy(),
    pools: () => [database.use, placesDatabase.use],
  });

  const overrides = new BreakerOverrides({
    store: new BreakerOverrideStore(database),
    wallets,
    logger,
  });
  const deliveryAdmin = new DeliveryAdmin({
    prisma,
    isHeld: (operatorId) => heldBecause({ wallets }, operatorId) !== undefined,
    horizonHours: (operatorId) => deliverySettings(configuration(), operatorId).horizonHours,
  });
  /** @param allFamilies the metrics of all processes behind the admin port; default: of this one */
  const adminServer = (allFamilies?: () => Promise<readonly Family[]>) => {
    const readiness = new Readiness({
      clock,
      checks: {
        postgresql: isPostgresUp,
        redis: () => accelerator.isAnswering(),
      },
      hasDescriptors,
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
        text: () => expositionText((allFamilies ?? metrics.families)()),
      },
      walletStates: async () =>
        allFamilies === undefined ? statesHere(wallets) : statesIn(await allFamilies()),
      overrideOf: (operatorId, callClass) => overrides.get(operatorId, callClass),
      setBreaker: (operatorId, callClass, to) => overrides.set(operatorId, callClass, to),
      releaseGeneration: (operatorId, generation) => deliveryAdmin.release(operatorId, generation),
      reload: () => source.reload(),
    });
    return { app, readiness };
  };

  return {
    publicServer,
    deliveryWorker,
    bonusReadBack,
    journalMonths: () => new JournalMonths(database, logger),
    resealing: () =>
      new Resealing({
        seals: new SessionSeals(database),
        vault,
        logger,
        onProgress: ({ waiting, unopenable }) => {
          metrics.tokensBehind.set({ state: 'waiting' }, waiting);
          metrics.tokensBehind.set({ state: 'unopenable' }, unopenable);
        },
      }),
    adminServer,
    overrides,
    accelerator,
    database,
    wallets,
    timelines,
    /** After the listeners have drained. */
    close: async () => {
      serverGauges.close();
      databaseClock.close();
      await Promise.all([wallets.close(), bonusService.close()]);
      lag.close();
      answers.close();
      accelerator.close();
      await Promise.all([database.close(), placesDatabase.close(), prisma.$disconnect()]);
    },
  };
}

/** As many batches of places as are under way at once, begun and finished. */
const PLACE_CONNECTIONS = 4;
const CONNECTIONS = 10;

/** A server that answers later than this is away, for a gauge. */
const SERVER_CHECK_MS = 1_000;

const PING = statement('ping', {}, 'SELECT 1 AS one', noRow);

/** Recomputes a value only when what it is made from is another object: after a reload. */
function whileSame<From, To>(from: () => From, make: (from: From) => To): () => To {
  let madeFrom = from();
  let made = make(madeFrom);
  return () => {
    const current = from();
    if (current !== madeFrom) {
      madeFrom = current;
      made = make(current);
    }
    return made;
  };
}

function allowedBy(cidrs: () => readonly string[]): (address: string) => boolean {
  const matcher = whileSame(cidrs, (list) => (list.length === 0 ? () => true : listMatcher(list)));
  return (address) => matcher()(address);
}

/** A request whose connection was reset in the meantime has no address any more. */
function listMatcher(cidrs: readonly string[]): (address: string) => boolean {
  const matches = addressMatcher(cidrs);
  return (address) => isIP(address) !== 0 && matches(address);
}

/** A slow body must leave time to answer within the deadline. */
function requestTimeoutMs({ gateway }: Configuration): number {
  return Math.max(100, gateway.deadline.totalMs - 300);
}
