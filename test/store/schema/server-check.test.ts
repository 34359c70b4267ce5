import { createServer, connect as dial, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { migrateDatabase } from '../../../src/cli/database.ts';
import { CommandFailed } from '../../../src/cli/failures.ts';
import { readEnvironment } from '../../../src/config/environment/environment.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { awaitDatabase } from '../../../src/process/start-up.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { openLongConnection } from '../../../src/store/server/connection.ts';
import { startPostgres } from '../../../tools/embedded/postgres.ts';
import { listenOn, stopListening } from '../../../tools/simulator/wallet/listener.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { setUpDatabase } from '../../support/foreign-settings.ts';
import { databaseUrl, onServer } from '../../support/server.ts';

let server: TestDatabase;
beforeEach(async () => {
  server = await createDatabase();
});
afterEach(() => server.drop());

const start = (url: string, logger = pino({ level: 'silent' })) => {
  const environment = readEnvironment({ DATABASE_URL: url, REDIS_URL: 'redis://127.0.0.1:1' });
  return awaitDatabase(environment, systemClock, logger);
};
const whyNot = (url: string) =>
  start(url).then(
    () => 'it starts',
    (error: Error) => error.message,
  );

/** Does what the message says. */
async function obey(message: string): Promise<void> {
  const [statements] = message.match(/ALTER (?:ROLE|SEQUENCE|TABLE) .*;/) ?? [];
  await onServer(server.url, (client) => client.query(statements ?? 'there is none'));
}

describe('a server on which a commit is not kept', () => {
  beforeEach(() => setUpDatabase(server.url, { synchronous_commit: 'off' }));

  it('starts no gateway, and what the message says is all there is to do (I1)', async () => {
    const message = await whyNot(server.url);
    expect(message).toMatch(/^PostgreSQL \(DATABASE_URL, postgresql:.*\) commits before anything/);
    await obey(message);
    expect(await whyNot(server.url)).toBe('it starts');
  });

  it('gets no schema', async () => {
    await expect(migrateDatabase({ DATABASE_URL: server.url }, () => undefined)).rejects.toThrow(
      CommandFailed,
    );
  });

  it.each(['local', 'remote_write', 'remote_apply'])('is not one of %s', async (value) => {
    await setUpDatabase(server.url, { synchronous_commit: value });
    expect(await whyNot(server.url)).toBe('it starts');
  });
});

describe('a journal with tables that a crash of the server would empty', () => {
  it.each([
    'ALTER TABLE bets SET UNLOGGED',
    'ALTER TABLE attempts_rest SET UNLOGGED; ALTER TABLE players SET UNLOGGED',
  ])(
    'starts no gateway, and what the message says is all there is to do (I3): %s',
    async (text) => {
      await onServer(server.url, (client) => client.query(text));
      const message = await whyNot(server.url);
      expect(message).toMatch(
        /would lose whole tables in a crash, because they are UNLOGGED: ALTER/,
      );
      await obey(message);
      expect(await whyNot(server.url)).toBe('it starts');
    },
  );

  it('is no other program’s table beside it', async () => {
    await onServer(server.url, (client) => client.query('CREATE UNLOGGED TABLE cache (id INT)'));
    expect(await whyNot(server.url)).toBe('it starts');
  });
});

describe('sequences that connections have ids in stock of', () => {
  it('start no gateway: a rollback would overtake a settle that was promised before it (I6)', async () => {
    await onServer(server.url, (client) =>
      client.query(
        `ALTER SEQUENCE deliveries_id_seq CACHE 50; ALTER SEQUENCE operations_id_seq CACHE 9`,
      ),
    );
    const message = await whyNot(server.url);
    expect(message).toMatch(/gives ids out of order.* restart every gateway that runs/);
    await obey(message);
    expect(await whyNot(server.url)).toBe('it starts');
  });

  it('are no matter where no order is kept in the ids, nor is a larger step', async () => {
    await onServer(server.url, (client) =>
      client.query(
        `ALTER SEQUENCE players_id_seq CACHE 50; ALTER SEQUENCE deliveries_id_seq INCREMENT 2`,
      ),
    );
    expect(await whyNot(server.url)).toBe('it starts');
  });
});

describe('a start', () => {
  const warnings = async (url: string) => {
    const logged: unknown[] = [];
    const write = (line: string) => void logged.push(JSON.parse(line).msg);
    await start(url, pino({ level: 'warn' }, { write }));
    return logged;
  };

  it('says so where PostgreSQL does not wait for its disk (I1)', async () => {
    expect(await warnings(server.url)).toEqual(['postgresql.fsync_off']);
  });

  it('says nothing where it does', async (context) => {
    const own = await startPostgres();
    context.onTestFinished(() => own.stop());
    await migrate(own.url);
    expect(await warnings(own.url)).toEqual([]);
  });
});

it('a database that has not every character gets no schema, and the message says what to make', async () => {
  const url = inject('postgresUrl');
  const name = `${inject('databasePrefix')}_latin`;
  await onServer(url, (client) =>
    client.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`),
  );
  await expect(migrate(databaseUrl(url, name))).rejects.toThrow(
    /^stores text as LATIN1.*ENCODING 'UTF8'/,
  );
  await onServer(url, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
});

describe('behind a pooler that drops what connections ask for', () => {
  const pooler = createServer((near) => forwardWithoutOptions(near));
  let url: string;
  beforeEach(async () => {
    const direct = new URL(server.url);
    direct.port = String(await listenOn(pooler, 0));
    url = direct.href;
  });
  afterEach(() => stopListening(pooler));

  function forwardWithoutOptions(near: Socket): void {
    const far = dial(Number(new URL(server.url).port), '127.0.0.1');
    const end = () => [near, far].forEach((socket) => void socket.destroy());
    for (const socket of [near, far]) socket.on('error', end).on('close', end);
    near.once('data', (startup) => {
      far.write(withoutOptions(startup));
      near.pipe(far);
      far.pipe(near);
    });
  }

  it('a gateway starts where the settings are the role’s', async () => {
    await setUpDatabase(server.url);
    await setUpDatabase(server.url, { statement_timeout: '6s', lock_timeout: '0' });
    const message = await whyNot(url);
    expect(message).toContain('does not give what its connections ask for');
    expect(message).toContain('default_transaction_isolation is serializable');
    expect(message).toContain('TimeZone is Asia/Kathmandu');
    expect(message).toMatch(/ALTER ROLE wagergate IN DATABASE \S+ SET DateStyle = 'ISO';/);
    await obey(message);
    expect(await whyNot(url)).toBe('it starts');
  });

  it('a gateway starts only where the role gives no shorter time for a lock than a callback has (I3)', async () => {
    await setUpDatabase(server.url, { lock_timeout: '20ms' });
    const message = await whyNot(url);
    expect(message).toMatch(/lock_timeout is 20\. Set ALTER ROLE .* SET lock_timeout = '0';/);
    expect(await whyNot(server.url)).toBe('it starts');
    await obey(message);
    expect(await whyNot(url)).toBe('it starts');
  });

  it('what takes long is ended by no limit of the role either', async () => {
    await setUpDatabase(server.url, { statement_timeout: '200ms' });
    const client = await openLongConnection({ url }, 'test');
    await expect(client.query('SELECT pg_sleep(0.5)')).resolves.toMatchObject({ rowCount: 1 });
    await client.end();
  });

  it('a gateway starts on a server with its defaults, even if days come before months', async () => {
    await setUpDatabase(server.url, { DateStyle: 'ISO, DMY', TimeZone: 'Etc/UTC' });
    expect(await whyNot(url)).toBe('it starts');
  });
});

/** The startup message (PostgreSQL's manual, Message Formats) without its `options`. */
function withoutOptions(startup: Buffer): Buffer {
  const words = startup.toString('latin1', 8).split('\0');
  const at = words.indexOf('options');
  // A mere check whether the server is there has no options.
  if (at < 0) return startup;
  words.splice(at, 2);
  const body = Buffer.from(words.join('\0'), 'latin1');
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeInt32BE(8 + body.length);
  return Buffer.concat([head, body]);
}
