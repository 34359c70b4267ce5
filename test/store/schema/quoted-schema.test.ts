import { pino } from 'pino';
import { it, onTestFinished } from 'vitest';
import { readEnvironment } from '../../../src/config/environment/environment.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { awaitDatabase } from '../../../src/process/start-up.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { createBareDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

it('a journal may be in a schema whose name has to be quoted: it is migrated, and a gateway starts on it', async () => {
  const database = await createBareDatabase();
  onTestFinished(() => database.drop());
  await onServer(database.url, (client) => client.query('CREATE SCHEMA "Wager-gate"'));
  const url = new URL(database.url);
  url.searchParams.set('options', '-c search_path="Wager-gate"');
  await migrate(url.href);
  await awaitDatabase(
    readEnvironment({ DATABASE_URL: url.href, REDIS_URL: 'redis://127.0.0.1:1' }),
    systemClock,
    pino({ level: 'silent' }),
  );
});
