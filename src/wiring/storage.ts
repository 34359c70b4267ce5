import type { PoolClient } from 'pg';
import { Accelerator } from '../redis/accelerator.ts';
import { AnswerCache } from '../redis/answer-cache.ts';
import { BetJournal } from '../store/bets/journal.ts';
import { PlaceJournal } from '../store/bets/place-journal.ts';
import { Database } from '../store/database.ts';
import { BacklogCounts } from '../store/deliveries/backlog-counts.ts';
import { createPrisma } from '../store/schema/prisma.ts';
import type { DatabaseAddress } from '../store/server/connection.ts';
import { ConnectionSharing } from '../store/server/connection-sharing.ts';
import { DatabaseClock } from '../store/server/database-clock.ts';
import { FOLLOWING_IDLE_MS, followAddress } from '../store/server/follow-address.ts';
import { SilentConnections } from '../store/server/silent-connections.ts';
import { Players } from '../store/sessions/players.ts';
import { tracedMethods } from '../telemetry/tracing.ts';
import { knownDatabase } from './known-database.ts';
import type { Base } from './parts.ts';

/** Twice the number of batches of places at once: earlier batches may be stuck in dead connections. */
const PLACE_CONNECTIONS = 8;
/** The statements of all other callbacks, and claiming deliveries. */
const JOURNAL_CONNECTIONS = 8;
/**
 * Operators' bonus calls and statements. If one of their tables is locked, or a read takes long, no callback
 * waits for them, and readiness does not take PostgreSQL to be away (I7).
 */
const OPERATORS_CONNECTIONS = 3;
/** Likewise for what people read: books, lists, searches. */
const PEOPLE_CONNECTIONS = 3;
/**
 * What authenticates a caller: operators' nonces and people's sessions, each one row by its key. If they waited
 * behind slow reads, no operator could revoke a session, and nobody on duty could do anything.
 */
const CALLERS_CONNECTIONS = 2;
/** Everything else: sessions, players and a worker's duties, which must not use up all of these. */
const CONNECTIONS = 10;
/** Counting open deliveries, which takes long when there are many, and must not make other statements wait. */
const BACKLOG_CONNECTIONS = 2;
/** A month's table is created while callbacks wait (`JournalMonths`). */
const MONTH_TIMEOUT_MS = 1_000;

export type Storage = ReturnType<typeof createStorage>;

/** PostgreSQL, the journal in it, and Redis in front. */
export function createStorage(base: Base) {
  const { environment, databaseId, clock, logger, tracing, configuration } = base;
  const url = environment.databaseUrl;
  const { known, onRefused } = knownDatabase(base);
  const pools = createPools({ url, known }, new ConnectionSharing(onRefused), logger);
  const { database, journalDatabase, clockDatabase } = pools;
  const databaseClock = new DatabaseClock(clockDatabase, clock);
  databaseClock.start();
  const stopFollowing = followAddress(pools.monthsDatabase);
  const prisma = createPrisma(url, known);
  // Separate from people's: while a list of theirs waits for a locked table, operators can read their bets.
  const operatorsPrisma = createPrisma(url, known);
  const places = new PlaceJournal(pools.placesDatabase, databaseClock);
  const bets = new BetJournal(journalDatabase, databaseClock);

  const accelerator = new Accelerator({
    url: environment.redisUrl,
    prefix: 'wagergate:',
    clock,
    logger,
  });
  const answers = new AnswerCache(
    accelerator,
    databaseId,
    clock,
    () => configuration().gateway.idempotency.ttlSeconds * 1000,
  );
  return {
    /** For long work on a connection of its own. */
    direct: { url: environment.directDatabaseUrl, known },
    database,
    operatorsDatabase: pools.operatorsDatabase,
    peopleDatabase: pools.peopleDatabase,
    callersDatabase: pools.callersDatabase,
    journalDatabase,
    monthsDatabase: pools.monthsDatabase,
    prisma,
    operatorsPrisma,
    places: tracedMethods(tracing, 'journal', places, ['begin', 'finish']),
    bets: tracedMethods(tracing, 'journal', bets, ['find', 'commit', 'finish']),
    players: new Players(database),
    backlog: new BacklogCounts(pools.backlogDatabase, clock),
    accelerator,
    answers,
    postgresTakesWrites: () => takesWrites(pools, databaseClock),
    pools: () => Object.values(pools).map(({ use }) => use),
    close: async () => {
      databaseClock.close();
      stopFollowing();
      answers.close();
      accelerator.close();
      const closed = Object.values(pools).map((one) => one.close());
      await Promise.all([...closed, prisma.$disconnect(), operatorsPrisma.$disconnect()]);
    },
  };
}

/**
 * Whether PostgreSQL accepts writes. A pool without a free connection is not asked, because it may wait for a locked
 * table while PostgreSQL works: the clock's connection is asked instead. That connection alone may be dead, which takes
 * 7 s to notice: while the clock is still known, callbacks continue and the pool's answer is enough.
 */
async function takesWrites(
  { clockDatabase, database }: ReturnType<typeof createPools>,
  clock: DatabaseClock,
): Promise<boolean> {
  const { inUse, max } = database.use;
  const isFree = inUse < max;
  const looks = [
    ...(isFree ? [database] : []),
    ...(isFree && clock.isKnown ? [] : [clockDatabase]),
  ];
  const taken = await Promise.all(looks.map((pool) => pool.takesWrites()));
  return taken.every(Boolean);
}

/** The pools of connections to PostgreSQL, separated so that one kind of work does not wait for another. */
function createPools(
  address: Required<DatabaseAddress>,
  sharing: ConnectionSharing,
  logger: Base['logger'],
) {
  const onIdleError = (error: Error) => logger.warn({ err: error }, 'database.connection_lost');
  const shared = { ...address, silent: new SilentConnections<PoolClient>(), sharing, onIdleError };
  const kept = (connectionsMax: number) =>
    new Database({ ...shared, connectionsMax, plans: 'kept' });
  return {
    database: new Database({ ...shared, connectionsMax: CONNECTIONS }),
    operatorsDatabase: new Database({ ...shared, connectionsMax: OPERATORS_CONNECTIONS }),
    peopleDatabase: new Database({ ...shared, connectionsMax: PEOPLE_CONNECTIONS }),
    callersDatabase: new Database({ ...shared, connectionsMax: CALLERS_CONNECTIONS }),
    placesDatabase: kept(PLACE_CONNECTIONS),
    journalDatabase: kept(JOURNAL_CONNECTIONS),
    backlogDatabase: new Database({
      ...shared,
      connectionsMax: BACKLOG_CONNECTIONS,
      plans: 'ordered',
    }),
    // A locked table, or whatever else makes all other connections wait, must not stop the clock, or readiness.
    clockDatabase: new Database({ ...shared, connectionsMax: 1 }),
    monthsDatabase: new Database({
      ...shared,
      connectionsMax: 1,
      statementTimeoutMs: MONTH_TIMEOUT_MS,
      // Needed once an hour; in between it opens new connections to check which server the address leads to.
      idleMs: FOLLOWING_IDLE_MS,
    }),
  };
}
