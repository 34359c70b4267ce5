import { TokenBuckets } from '../lib/token-bucket.ts';
import { Accelerator } from '../redis/accelerator.ts';
import { AnswerCache } from '../redis/answer-cache.ts';
import { BetJournal } from '../store/bets/journal.ts';
import { PlaceJournal } from '../store/bets/place-journal.ts';
import { Database, databasePool } from '../store/database.ts';
import { BacklogCounts } from '../store/deliveries/backlog.ts';
import { createPrisma } from '../store/schema/prisma.ts';
import { ConnectionPools } from '../store/server/connection-pools.ts';
import { DatabaseClock } from '../store/server/database-clock.ts';
import { Players } from '../store/sessions/players.ts';
import { tracedMethods } from '../telemetry/tracing.ts';
import type { Base } from './parts.ts';

/** How many connections each kind of statements may use, so that none waits for another (I7). */
const CONNECTIONS_MAX = {
  /** Twice the number of batches of places at once: earlier batches may be stuck in dead connections. */
  places: 8,
  /** The statements of all other callbacks, and claiming deliveries. */
  journal: 8,
  /** Sessions, players and a worker's duties. */
  general: 10,
  /** What authenticates a caller: operators' nonces and people's sessions, each one row by its key. */
  callers: 2,
  /** Counting open deliveries, which takes long when there are many. */
  backlog: 2,
  /** What must answer while all others wait: PostgreSQL's clock, and readiness. */
  clock: 1,
  months: 1,
  /** Operators' bonus calls and statements. */
  operators: 3,
  people: 3,
  /** Each of the two Prisma clients. */
  prisma: 2,
} as const;
/** A month's table is created while callbacks wait (`JournalMonths`). */
const MONTH_TIMEOUT_MS = 1_000;
/** At most one log line a minute: a pool tries to connect again for each callback. */
const REFUSED_LINES = { perSecond: 1 / 60, burst: 1 };

export type Storage = ReturnType<typeof createStorage>;

/** PostgreSQL, the journal in it, and Redis in front. */
export function createStorage(base: Base) {
  const { environment, databaseId, clock, logger, tracing, configuration } = base;
  const url = environment.databaseUrl;
  const { pools, peoplePool, ...databases } = createPools(url, base);
  const { database, journalDatabase, placesDatabase, clockDatabase } = databases;
  const databaseClock = new DatabaseClock(clockDatabase, clock);
  databaseClock.start();
  const prisma = createPrisma(url, peoplePool);
  // Separate from people's: while a list of theirs waits for a locked table, operators can read their bets.
  const operatorsPrisma = createPrisma(url, peoplePool);
  const places = new PlaceJournal(placesDatabase, databaseClock);
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
    directUrl: environment.directDatabaseUrl,
    database,
    operatorsDatabase: databases.operatorsDatabase,
    peopleDatabase: databases.peopleDatabase,
    callersDatabase: databases.callersDatabase,
    journalDatabase,
    monthsDatabase: databases.monthsDatabase,
    prisma,
    operatorsPrisma,
    places: tracedMethods(tracing, 'journal', places, ['begin', 'finish']),
    bets: tracedMethods(tracing, 'journal', bets, ['find', 'commit', 'finish']),
    players: new Players(database),
    backlog: new BacklogCounts(databases.backlogDatabase),
    accelerator,
    answers,
    postgresTakesWrites: () => clockDatabase.takesWrites(),
    pools: () => pools.use,
    close: async () => {
      databaseClock.close();
      answers.close();
      accelerator.close();
      await Promise.all([prisma.$disconnect(), operatorsPrisma.$disconnect()]);
      await pools.close();
    },
  };
}

/** Three pools, each with as many connections as its quotas may use. */
function createPools(url: string, { clock, logger }: Base) {
  const lines = new TokenBuckets(clock, REFUSED_LINES);
  const pools = new ConnectionPools(({ message }) => {
    if (lines.take('refused') > 0) return;
    const note = `PostgreSQL gives no further connection (${message}): statements wait for those that this process has`;
    logger.warn({ note }, 'postgresql.no_further_connection');
  });
  const onIdleError = (error: Error) => logger.warn({ err: error }, 'database.connection_lost');
  const { places, journal, general, callers, backlog, clock: ticks, months } = CONNECTIONS_MAX;
  const pool = (plans: 'each' | 'kept', max: number) =>
    databasePool(pools, url, { plans, max, onIdleError });
  const callbacksPool = pool('kept', places + journal);
  const generalPool = pool('each', general + callers + backlog + ticks + months);
  const peoplePool = pool(
    'each',
    CONNECTIONS_MAX.operators + CONNECTIONS_MAX.people + 2 * CONNECTIONS_MAX.prisma,
  );
  const people = { pool: peoplePool, isUrgent: false };
  return {
    pools,
    peoplePool,
    placesDatabase: new Database({ pool: callbacksPool, connectionsMax: places, plans: 'kept' }),
    journalDatabase: new Database({ pool: callbacksPool, connectionsMax: journal, plans: 'kept' }),
    database: new Database({ pool: generalPool, connectionsMax: general }),
    callersDatabase: new Database({ pool: generalPool, connectionsMax: callers }),
    clockDatabase: new Database({ pool: generalPool, connectionsMax: ticks }),
    backlogDatabase: new Database({
      ...{ pool: generalPool, isUrgent: false },
      connectionsMax: backlog,
      plans: 'ordered',
    }),
    monthsDatabase: new Database({
      ...{ pool: generalPool, isUrgent: false },
      connectionsMax: months,
      statementTimeoutMs: MONTH_TIMEOUT_MS,
    }),
    operatorsDatabase: new Database({ ...people, connectionsMax: CONNECTIONS_MAX.operators }),
    peopleDatabase: new Database({ ...people, connectionsMax: CONNECTIONS_MAX.people }),
  };
}
