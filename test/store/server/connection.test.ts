import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { OUR_SETTINGS, openLongConnection } from '../../../src/store/server/connection.ts';
import { statement } from '../../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { FOREIGN_SETTINGS, setUpDatabase } from '../../support/foreign-settings.ts';
import { rowsOf } from '../../support/server.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createDatabase();
  await setUpDatabase(server.url);
  await setUpDatabase(server.url, { idle_session_timeout: '400ms' });
  const [newer] = await rowsOf(
    server.url,
    `SELECT FROM pg_settings WHERE name = 'transaction_timeout'`,
  );
  if (newer !== undefined) await setUpDatabase(server.url, { transaction_timeout: '400ms' });
});
afterAll(() => server.drop());

/** Runs one statement that returns a text, on a connection of some kind that it opens. */
type Ask = (url: string, text: string) => Promise<string>;

function hot(plans: 'each' | 'kept' | 'ordered'): Ask {
  return async (url, text) => {
    const database = new Database({ url, connectionsMax: 1, plans, onIdleError: () => undefined });
    const asked = statement('asked', {}, `${text} AS told`, (row) => row.text('told'));
    try {
      const [told] = await database.run(asked, {});
      return told ?? '';
    } finally {
      await database.close();
    }
  };
}

const cold: Ask = async (url, text) => {
  const prisma = createPrisma(url);
  const rows = await prisma.$queryRawUnsafe<{ told: string }[]>(`${text} AS told`);
  await prisma.$disconnect();
  return rows[0]?.told ?? '';
};

const long: Ask = async (url, text) => {
  const client = await openLongConnection(url, 'test');
  try {
    const { rows } = await client.query<{ told: string }>(`${text} AS told`);
    return rows[0]?.told ?? '';
  } finally {
    await client.end();
  }
};

const KINDS: readonly (readonly [string, Ask])[] = [
  ['whose plans are made each time', hot('each')],
  ['whose plans are kept', hot('kept')],
  ['that reads in order', hot('ordered')],
  ['of the cold paths', cold],
  ['for what takes long', long],
];

const settings = (names: readonly string[]) =>
  `SELECT concat_ws('; ', ${names.map((name) => `current_setting('${name}')`).join(', ')})`;

describe.each(KINDS)('a connection %s', (_, ask) => {
  it('has the gateway’s own settings, however the database is set up', async () => {
    const keepAlive = {
      tcp_keepalives_idle: '30',
      tcp_keepalives_interval: '10',
      tcp_keepalives_count: '4',
      // Other systems have no such limit, and the server shows none.
      ...(process.platform === 'linux' && { tcp_user_timeout: '70000' }),
    };
    const all = { ...OUR_SETTINGS, DateStyle: 'ISO, MDY', ...keepAlive };
    expect(await ask(server.url, settings(Object.keys(all)))).toBe(Object.values(all).join('; '));
  });

  it('takes from the options of DATABASE_URL everything else', async () => {
    const url = new URL(server.url);
    url.searchParams.append('options', '-c search_path=elsewhere,public -c TimeZone=Asia/Tokyo');
    const names = ['search_path', 'TimeZone'];
    expect(await ask(url.href, settings(names))).toBe('elsewhere,public; UTC');
  });

  it('is ended by no limit of the role, the database or DATABASE_URL before its own', async () => {
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const usual = await ask(server.url, settings(names));
    const url = new URL(server.url);
    for (const name of [...names, 'query_timeout']) url.searchParams.append(name, '400');
    expect(await ask(url.href, settings(names))).toBe(usual);
    expect(await ask(url.href, `SELECT 'slept' || pg_sleep(0.6)`)).toBe('slept');
  });
});

describe('a connection for what takes long', () => {
  it('may do nothing in a transaction for longer than the role allows', async () => {
    const client = await openLongConnection(server.url, 'test');
    await client.query('BEGIN');
    await new Promise((resolve) => setTimeout(resolve, 600));
    await expect(client.query('SELECT 1')).resolves.toMatchObject({ rowCount: 1 });
    await client.end();
  });

  it('waits for a lock as long as the role lets it: callbacks stand behind it', async () => {
    const shown = await long(server.url, settings(['lock_timeout']));
    expect(shown).toBe(FOREIGN_SETTINGS.lock_timeout);
  });
});
