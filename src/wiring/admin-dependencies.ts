import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { BreakerOverrides } from '../admin/operators/breaker-overrides.ts';
import type { AdminOptions } from '../admin/server.ts';
import { Accounts } from '../bonuses/service/account.ts';
import { Reconciler } from '../books/reconciliation/reconciler.ts';
import { viewOfOperator } from '../config/settings-view.ts';
import { areHeld } from '../deliveries/drain.ts';
import { deliverySettings } from '../operations/operator-settings.ts';
import { resolveResult } from '../operations/resolve-result.ts';
import { AuditLog } from '../store/audit/audit-log.ts';
import { BetSearch } from '../store/bets/search.ts';
import { BetTimelines } from '../store/bets/timeline.ts';
import { UnknownResults } from '../store/bets/unknown-results.ts';
import { assignTemplates } from '../store/bonuses/assignment.ts';
import { BooksDays } from '../store/books/days.ts';
import { Statements } from '../store/books/statements.ts';
import { BreakerOverrideStore } from '../store/breaker-override-store.ts';
import { DeliveryAdmin } from '../store/deliveries/delivery-admin.ts';
import { DeliveryHolds } from '../store/deliveries/holds.ts';
import { exportPlayer } from '../store/players/export.ts';
import { forgetPlayer } from '../store/players/forget.ts';
import { PlayerRecords } from '../store/players/player-records.ts';
import { ReconciliationDifferences } from '../store/reconciliation/differences.ts';
import { ReconciliationRuns } from '../store/reconciliation/runs.ts';
import { probeWallet } from '../wallets/probe.ts';
import type { Money } from './money.ts';
import type { Base } from './parts.ts';
import { ReloadAudit } from './reload-audit.ts';
import type { Storage } from './storage.ts';

function settingsForPeople(configuration: Base['configuration'], key: string) {
  return (operatorId: string) => {
    const operator = configuration().operators.get(operatorId);
    return operator && viewOfOperator(operator, key);
  };
}

/** What people read and change through the internal listener. */
export function createAdminDependencies(
  base: Base,
  storage: Storage,
  { wallets, sessions }: Money,
) {
  const { environment, source, logger, configuration } = base;
  const { prisma, database, backlog } = storage;
  const overrides = new BreakerOverrides({
    store: new BreakerOverrideStore(database),
    wallets,
    logger,
  });
  const isHeld = (operatorId: string) => areHeld({ wallets }, operatorId);
  const deliveryAdmin = new DeliveryAdmin({
    prisma,
    isHeld,
    horizonHours: (operatorId) => deliverySettings(configuration(), operatorId).horizonHours,
  });
  const timelines = new BetTimelines(prisma, () => deliveryAdmin.heldNow());
  const audit = new AuditLog(prisma);
  const reloads = new ReloadAudit({ source, audit, logger });
  const accounts = new Accounts(configuration);
  const booksDependencies = createBooksDependencies(base, storage);
  const dependencies = {
    timelines,
    resolveResult: (transactionId, word) =>
      resolveResult(
        new UnknownResults(database),
        transactionId,
        word,
        (operatorId) => deliverySettings(configuration(), operatorId).confirmUnknownAfterMs,
      ),
    deliveryAdmin,
    backlog,
    isHeld,
    overrideOf: (operatorId, callClass) => overrides.get(operatorId, callClass),
    setBreaker: (operatorId, callClass, to, by) => overrides.set(operatorId, callClass, to, by),
    releaseGeneration: (operatorId, which, by) => deliveryAdmin.release(operatorId, which, by),
    reload: (by) => reloads.reload(by),
    holds: new DeliveryHolds(prisma),
    probe: probeWallet,
    certificateFolder: join(environment.configFolder, 'certificates'),
    settingsOf: settingsForPeople(configuration, environment.adminToken ?? randomUUID()),
    lastReload: () => source.lastReload,
    audit,
    ...createPlayerDependencies(storage, sessions, timelines),
    source,
    assignTemplates: async (operator, templateIds, by) => {
      const { cid: upstreamCid, exclusive } = accounts.of(operator);
      if (exclusive) return { kind: 'exclusive' };
      const tenant = { operatorId: operator.id, upstreamCid };
      return { kind: 'assigned', ...(await assignTemplates(prisma, tenant, templateIds, by)) };
    },
    ...booksDependencies,
  } satisfies Partial<AdminOptions>;
  return { overrides, reloads, dependencies, reconciler: booksDependencies.reconciler };
}

/** Players and their bets. */
function createPlayerDependencies(
  { prisma, peopleDatabase }: Storage,
  sessions: Money['sessions'],
  timelines: BetTimelines,
) {
  const players = new PlayerRecords(peopleDatabase);
  const bets = new BetSearch(peopleDatabase);
  return {
    bets,
    players,
    exportPlayer: (userId) => exportPlayer({ players, bets, timelines }, userId),
    forgetPlayer: (userId, by) => forgetPlayer(prisma, userId, by),
    revokeSessions: ({ operator, operatorUser }, by) =>
      sessions.revoke(operator, { operatorUser }, by),
  } satisfies Partial<AdminOptions>;
}

/** The books, and other parties' lists that are compared with the journal. */
function createBooksDependencies(
  { configuration, logger }: Base,
  { database, peopleDatabase, directUrl }: Storage,
) {
  const reconciliations = new ReconciliationRuns(peopleDatabase);
  const differences = new ReconciliationDifferences(peopleDatabase);
  // A comparison writes its results bit by bit, which must not wait for what people read.
  const noted = {
    runs: new ReconciliationRuns(database, (reconciliation, err) =>
      logger.warn({ err, reconciliation }, 'reconciliation.not_recounted'),
    ),
    differences: new ReconciliationDifferences(database),
  };
  return {
    booksDays: new BooksDays(peopleDatabase),
    statements: new Statements(peopleDatabase),
    reconciler: new Reconciler({ ...noted, databaseUrl: directUrl, configuration, logger }),
    reconciliations,
    differences,
  } satisfies Partial<AdminOptions>;
}
