import { Bookkeeper } from './books/bookkeeper.ts';
import { JournalMonths } from './store/schema/journal-months.ts';
import { noTracing } from './telemetry/tracing.ts';
import { createBonusApi } from './wiring/bonus-api.ts';
import { createInternalListener } from './wiring/internal-listener.ts';
import { createMoney } from './wiring/money.ts';
import type { Base, Parts } from './wiring/parts.ts';
import { createPublicListener } from './wiring/public-listener.ts';
import { createStorage } from './wiring/storage.ts';

export type Gateway = ReturnType<typeof compose>;

/** Everything of one process, built and wired; nothing listens or works yet. */
export function compose(parts: Parts) {
  const { source, tracing = noTracing } = parts;
  const base: Base = { ...parts, tracing, configuration: () => source.current };

  const storage = createStorage(base);
  const money = createMoney(base, storage);
  const bonusApi = createBonusApi(base, storage);
  const publicListener = createPublicListener(base, storage, money, bonusApi);
  const internalListener = createInternalListener(base, storage, money);

  const journalMonths = () => new JournalMonths(storage.monthsDatabase, parts.logger);
  const bookkeeper = () =>
    new Bookkeeper({ ...base, runner: storage.database, databaseUrl: storage.directUrl });
  const { deliveryWorker, resealing } = money;
  const bonusReadBack = bonusApi.readBack;
  return {
    publicServer: publicListener.publicServer,
    adminServer: internalListener.adminServer,
    overrides: internalListener.overrides,
    deliveryWorker,
    resealing,
    bonusReadBack,
    bookkeeper,
    /** The duties of the role `worker`, not yet started. */
    duties: () => [journalMonths(), resealing(), deliveryWorker(), bonusReadBack(), bookkeeper()],
    wallets: money.wallets,
    accelerator: storage.accelerator,
    answers: storage.answers,
    database: storage.database,
    journalDatabase: storage.journalDatabase,
    pools: storage.pools,
    /** Call it after the listeners have drained. */
    close: async () => {
      await internalListener.close();
      await Promise.all([money.wallets.close(), bonusApi.close()]);
      publicListener.close();
      await storage.close();
    },
  };
}
