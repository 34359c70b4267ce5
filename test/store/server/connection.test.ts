import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { OUR_SETTINGS, openLongConnection } from '../../../src/store/server/connection.ts';
import { statement } from '../../../src/store/sql/statement.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { FOREIGN_SETTINGS, setUpDatabase } from '../../support/foreign-settings.ts';
import { rowsOf } from '../../support/server.ts';

let server: TestDatabase;
beforeEach(async () => {
  server = await createDatabase();
  await setUpDatabase(server.url);
});
afterEach(() => server.drop());

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
    expect(await ask(server.url, settings(Object.keys(OUR_SETTINGS)))).toBe(
      Object.values({ ...OUR_SETTINGS, DateStyle: 'ISO, MDY' }).join('; '),
    );
  });

  it('has the server ask whether its gateway is still there, so that a dead one holds none for hours', async () => {
    const names = ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count'];
    expect(await ask(server.url, settings(names))).toBe('30; 10; 4');
  });

  // Other systems have no such limit, and the server shows none.
  it.runIf(process.platform === 'linux')(
    'has the server wait for it no longer where an answer is not acknowledged',
    async () => {
      expect(await ask(server.url, settings(['tcp_user_timeout']))).toBe('70000');
    },
  );

  it('keeps them even if DATABASE_URL has options, which apply to everything else', async () => {
    const url = new URL(server.url);
    url.searchParams.append('options', '-c search_path=elsewhere,public -c TimeZone=Asia/Tokyo');
    const names = ['search_path', 'TimeZone', 'DateStyle'];
    expect(await ask(url.href, settings(names))).toBe('elsewhere,public; UTC; ISO, MDY');
  });
});

it.each(KINDS.slice(0, 4))(
  'no limit of the role or database ends a statement %s before its own does',
  async (_, ask) => {
    const names = ['lock_timeout', 'jit'];
    expect(await ask(server.url, settings(names))).toBe('0; off');
    expect(await ask(server.url, `SELECT 'slept' || pg_sleep(0.6)`)).toBe('slept');
  },
);

it.each(KINDS)(
  'no limit in DATABASE_URL ends a statement %s before its own does, or lets it go on for longer',
  async (_, ask) => {
    await rowsOf(server.url, `ALTER DATABASE ${new URL(server.url).pathname.slice(1)} RESET ALL`);
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const usual = await ask(server.url, settings(names));
    const url = new URL(server.url);
    for (const name of [...names, 'query_timeout']) url.searchParams.append(name, '400');
    expect(await ask(url.href, settings(names))).toBe(usual);
    expect(await ask(url.href, `SELECT 'slept' || pg_sleep(0.6)`)).toBe('slept');
  },
);

describe.each(KINDS)('if the database ends idle sessions, a connection %s', (_, ask) => {
  it('is not ended for doing nothing', async () => {
    await setUpDatabase(server.url, { idle_session_timeout: '400ms' });
    expect(await ask(server.url, settings(['idle_session_timeout']))).toBe('0');
  });

  it('is not ended with a transaction, where the server knows a limit for these', async () => {
    if (!(await knowsTransactionTimeout())) return;
    await setUpDatabase(server.url, { transaction_timeout: '400ms' });
    expect(await ask(server.url, `SELECT 'slept' || pg_sleep(0.6)`)).toBe('slept');
  });
});

async function knowsTransactionTimeout(): Promise<boolean> {
  const known = await rowsOf(
    server.url,
    `SELECT FROM pg_settings WHERE name = 'transaction_timeout'`,
  );
  return known.length > 0;
}

describe('a connection for what takes long', () => {
  it('is ended by no limit of the role or database', async () => {
    const client = await openLongConnection(server.url, 'test');
    await client.query('BEGIN');
    await client.query('SELECT pg_sleep(0.6)');
    // In a transaction it does nothing for longer than the database allows.
    await new Promise((resolve) => setTimeout(resolve, 600));
    await expect(client.query('SELECT 1')).resolves.toMatchObject({ rowCount: 1 });
    await client.end();
  });

  it('is not ended by a limit of the transaction either, where the server knows one', async () => {
    if (!(await knowsTransactionTimeout())) return;
    await setUpDatabase(server.url, { transaction_timeout: '400ms' });
    const client = await openLongConnection(server.url, 'test');
    await client.query('BEGIN; SELECT pg_sleep(0.6)');
    await expect(client.query('SELECT 1')).resolves.toMatchObject({ rowCount: 1 });
    await client.end();
  });

  it('waits for a lock as long as the role lets it: callbacks stand behind it', async () => {
    const shown = await long(server.url, settings(['lock_timeout']));
    expect(shown).toBe(FOREIGN_SETTINGS.lock_timeout);
  });
});
