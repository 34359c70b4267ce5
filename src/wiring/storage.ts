import { Accelerator } from '../redis/accelerator.ts';
import { AnswerCache } from '../redis/answer-cache.ts';
import { BetJournal } from '../store/bets/journal.ts';
import { PlaceJournal } from '../store/bets/place-journal.ts';
import { BetTimelines } from '../store/bets/timeline.ts';
import { Database } from '../store/database.ts';
import { DatabaseClock } from '../store/database-clock.ts';
import { createPrisma } from '../store/schema/prisma.ts';
import { Players } from '../store/sessions/players.ts';
import { statement } from '../store/statement.ts';
import { tracedMethods } from '../telemetry/tracing.ts';
import type { Base } from './parts.ts';

/** As many batches of places as are under way at once, begun and finished. */
const PLACE_CONNECTIONS = 4;
const CONNECTIONS = 10;

const PING = statement('ping', {}, 'SELECT 1 AS one', (row) => row.int('one'));

export type Storage = ReturnType<typeof createStorage>;

/** PostgreSQL, the journal in it, and Redis in front. */
export function createStorage({ environment, clock, logger, tracing, configuration }: Base) {
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
  const prisma = createPrisma(url);
  const places = new PlaceJournal(placesDatabase, databaseClock);
  const bets = new BetJournal(database, databaseClock);

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
  return {
    database,
    prisma,
    places: tracedMethods(tracing, 'journal', places, ['begin', 'finish']),
    bets: tracedMethods(tracing, 'journal', bets, ['find', 'commit', 'finish']),
    players: new Players(database),
    timelines: new BetTimelines(prisma),
    accelerator,
    answers,
    isPostgresUp: async () => (await database.run(PING, {})).length === 1,
    pools: () => [database.use, placesDatabase.use],
    close: async () => {
      databaseClock.close();
      answers.close();
      accelerator.close();
      await Promise.all([database.close(), placesDatabase.close(), prisma.$disconnect()]);
    },
  };
}
