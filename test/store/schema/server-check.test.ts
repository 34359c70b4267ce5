import { createServer, connect as dial, type Socket } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { readEnvironment } from '../../../src/config/environment/environment.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { awaitDatabase } from '../../../src/process/start-up.ts';
import { migrate } from '../../../src/store/schema/migrate.ts';
import { openLongConnection } from '../../../src/store/server/connection.ts';
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
  const [statements] = message.match(/ALTER ROLE .*;/) ?? [];
  await onServer(server.url, (client) => client.query(statements ?? 'there is none'));
}

it.each([
  ['off', 1],
  ['local', 0],
])(
  'a start says in one line of log if PostgreSQL loses commits in a crash (%s)',
  async (value, lines) => {
    await setUpDatabase(server.url, { synchronous_commit: value });
    const written: string[] = [];
    await start(server.url, pino({ level: 'warn' }, { write: (line) => written.push(line) }));
    expect(written).toHaveLength(lines);
    expect(written.every((line) => line.includes('postgresql.synchronous_commit_off'))).toBe(true);
  },
);

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
    const client = await openLongConnection(url, 'test');
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
