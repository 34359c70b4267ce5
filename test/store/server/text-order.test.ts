import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, inject, it, type TestContext } from 'vitest';
import { migrateDatabase } from '../../../src/cli/database.ts';
import { readEnvironment } from '../../../src/config/environment/environment.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { awaitDatabase } from '../../../src/process/start-up.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { placedBet, type TestBet } from '../../support/bet.ts';
import { createDatabase } from '../../support/database.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { onRedis } from '../../support/redis.ts';
import { databaseUrl, onServer } from '../../support/server.ts';

/** A database whose text is ordered by a library, as in most, and what another release of that library does. */
async function databaseInOrderOfLibrary(context: TestContext) {
  const serverUrl = inject('postgresUrl');
  const name = `${inject('databasePrefix')}_${randomBytes(5).toString('hex')}`;
  const sql = (text: string) => onServer(serverUrl, (client) => client.query(text));
  await sql(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en'`);
  context.onTestFinished(async () => void (await sql(`DROP DATABASE ${name} WITH (FORCE)`)));
  const url = databaseUrl(serverUrl, name);
  await migrate(url);
  return {
    url,
    /** From now on vowels come before consonants, as in Hawaiian; connections break, as in a failover. */
    async sortOtherwise() {
      const { rows } = await sql(`SELECT attname FROM pg_attribute
         WHERE attrelid = 'pg_database'::regclass AND attname IN ('datlocale', 'daticulocale')`);
      await sql(`UPDATE pg_database SET ${rows[0]?.attname} = 'haw', datcollversion = 'before'
                  WHERE datname = '${name}'`);
      await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    },
    /** Does what the message says, word for word. */
    async obey(message: string) {
      const statements = message.match(/(?:REINDEX|ALTER) DATABASE [^;]*;/g) ?? [];
      expect(statements).toHaveLength(2);
      for (const one of statements) await onServer(url, (client) => client.query(one));
    },
  };
}

const whyNot = (url: string) =>
  awaitDatabase(
    readEnvironment({ DATABASE_URL: url, REDIS_URL: 'redis://127.0.0.1:1' }),
    systemClock,
    pino({ level: 'silent' }),
  ).then(
    () => 'it starts',
    (error: Error) => error.message,
  );

it('a place is sent once, even if the server sorts text differently than before (I5)', async (context) => {
  const database = await databaseInOrderOfLibrary(context);
  const gateway = await startTestGateway({
    through: async ({ redisUrl }) => ({ redisUrl, databaseUrl: database.url }),
  });
  context.onTestFinished(() => gateway.close());
  const player = await gateway.player();
  const bets: TestBet[] = [];
  for (let n = 0; n < 20; n += 1) bets.push(await placedBet(gateway, { player, amount: '1' }));
  const copies = async () => {
    await onRedis(gateway.redisUrl, (client) => client.flushall());
    return await Promise.all(bets.map((bet) => bet.place()));
  };

  await database.sortOtherwise();
  for (const copy of await copies()) expect(copy.body).toContain('"code":100');
  for (const bet of bets) expect(bet.arrivals()).toEqual(['place']);

  await database.obey(await whyNot(database.url));
  for (const copy of await copies()) expect(copy.status).toBe(200);
  for (const bet of bets) expect(bet.arrivals()).toEqual(['place']);
});

it('nothing starts on such a server, and what the message says is all there is to do', async (context) => {
  const database = await databaseInOrderOfLibrary(context);
  expect(await whyNot(database.url)).toBe('it starts');
  await database.sortOtherwise();
  const message = await whyNot(database.url);
  expect(message).toMatch(
    /^PostgreSQL \(DATABASE_URL, postgresql:.*\) sorts text otherwise than when/,
  );
  await expect(migrateDatabase({ DATABASE_URL: database.url }, () => undefined)).rejects.toThrow(
    /sorts text otherwise/,
  );
  await database.obey(message);
  expect(await whyNot(database.url)).toBe('it starts');
});

it('a server that is too old to tell starts nothing and gets no schema, and the message says how new it has to be', async (context) => {
  const database = await createDatabase();
  context.onTestFinished(() => database.drop());
  // Found before the real one, which has the column since PostgreSQL 15.
  await onServer(database.url, (client) =>
    client.query(`CREATE SCHEMA old;
      CREATE VIEW old.pg_database AS SELECT oid, datname FROM pg_catalog.pg_database`),
  );
  const url = new URL(database.url);
  url.searchParams.set('options', '-c search_path=old,pg_catalog,public');
  const words =
    /^PostgreSQL \(DATABASE_URL, postgresql:.*\) is version \d+.*, and the gateway needs 15 or newer$/;
  expect(await whyNot(url.href)).toMatch(words);
  const migrating = migrateDatabase({ DATABASE_URL: url.href }, () => undefined);
  await expect(migrating).rejects.toThrow(', and the gateway needs 15 or newer');
});
