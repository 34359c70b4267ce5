import type { PoolClient } from 'pg';
import { Accelerator } from '../redis/accelerator.ts';
import { AnswerCache } from '../redis/answer-cache.ts';
import { BetJournal } from '../store/bets/journal.ts';
import { PlaceJournal } from '../store/bets/place-journal.ts';
import { BetTimelines } from '../store/bets/timeline.ts';
import { Database } from '../store/database.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import { BacklogCounts } from '../store/deliveries/backlog-counts.ts';
import { createPrisma } from '../store/schema/prisma.ts';
import { Players } from '../store/sessions/players.ts';
import { SilentConnections } from '../store/silent-connections.ts';
import { tracedMethods } from '../telemetry/tracing.ts';
import type { Base } from './parts.ts';

/** As many batches of places as are under way at once, begun and finished; twice, where those stand in dead connections. */
const PLACE_CONNECTIONS = 8;
/** For the statements of all other callbacks and for taking deliveries. */
const JOURNAL_CONNECTIONS = 8;
/** For everything else: sessions and players, and a worker's duties, which must not use up all of them. */
const CONNECTIONS = 10;
/** For counting what is open, which takes its time where much is, and must not keep the others waiting. */
const BACKLOG_CONNECTIONS = 2;

export type Storage = ReturnType<typeof createStorage>;

/** PostgreSQL, the journal in it, and Redis in front. */
export function createStorage({
  environment,
  databaseId,
  clock,
  logger,
  tracing,
  configuration,
}: Base) {
  const onIdleError = (error: Error) => logger.warn({ err: error }, 'database.connection_lost');
  const url = environment.databaseUrl;
  const shared = { url, silent: new SilentConnections<PoolClient>(), onIdleError };
  const database = new Database({ ...shared, connectionsMax: CONNECTIONS });
  const kept = (connectionsMax: number) =>
    new Database({ ...shared, connectionsMax, plans: 'kept' });
  const placesDatabase = kept(PLACE_CONNECTIONS);
  const journalDatabase = kept(JOURNAL_CONNECTIONS);
  const backlogDatabase = new Database({
    ...{ ...shared, connectionsMax: BACKLOG_CONNECTIONS, plans: 'ordered' },
  });
  const databases = [database, placesDatabase, journalDatabase, backlogDatabase];
  const databaseClock = new DatabaseClock(database, clock);
  databaseClock.start();
  const prisma = createPrisma(url);
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
    database,
    journalDatabase,
    prisma,
    places: tracedMethods(tracing, 'journal', places, ['begin', 'finish']),
    bets: tracedMethods(tracing, 'journal', bets, ['find', 'commit', 'finish']),
    players: new Players(database),
    timelines: new BetTimelines(prisma),
    backlog: new BacklogCounts(backlogDatabase, clock),
    accelerator,
    answers,
    postgresTakesWrites: () => database.takesWrites(),
    pools: () => databases.map(({ use }) => use),
    close: async () => {
      databaseClock.close();
      answers.close();
      accelerator.close();
      await Promise.all([...databases.map((one) => one.close()), prisma.$disconnect()]);
    },
  };
}
