import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BooksDays, type DayQuery } from '../../../src/store/books/days.ts';
import { startTestGateway, type TestGateway } from '../../support/gateway.ts';
import { onServer } from '../../support/server.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ operators: { alpha: {}, beta: {} } });
  await onServer(gateway.databaseUrl, (client) =>
    client.query(
      `INSERT INTO books_days (day, operator_id, currency, bets)
       SELECT '2020-01-01'::date + n, o.id, c.id, n
         FROM generate_series(0, 699) n, (VALUES ('alpha'), ('beta')) o(id),
              (VALUES ('EUR'), ('USD')) c(id)`,
    ),
  );
}, 60_000);
afterAll(() => gateway.close());

async function all(query: DayQuery): Promise<readonly string[]> {
  const days = new BooksDays(gateway.parts.database);
  const found: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await days.list({ ...query, cursor });
    if (page === undefined) throw new Error('its own cursor was refused');
    found.push(
      ...page.items.map(({ day, operator, currency }) => `${day} ${operator} ${currency}`),
    );
    if (page.nextCursor === null) return found;
    cursor = page.nextCursor;
  }
}

describe('the days of the books', () => {
  it('come page by page, each once, oldest or newest day first', async () => {
    const oldest = await all({});
    expect(oldest).toHaveLength(2_800);
    expect(oldest).toEqual([...oldest].sort());
    const newest = await all({ order: 'newest' });
    expect(newest.slice(0, 5)).toEqual([
      '2021-11-30 alpha EUR',
      '2021-11-30 alpha USD',
      '2021-11-30 beta EUR',
      '2021-11-30 beta USD',
      '2021-11-29 alpha EUR',
    ]);
    expect([...newest].sort()).toEqual(oldest);
  });

  it('are those that were asked for, in either order', async () => {
    const query = { operator: 'beta', currency: 'USD', from: '2020-02-28', to: '2020-03-01' };
    const wanted = ['2020-02-28 beta USD', '2020-02-29 beta USD', '2020-03-01 beta USD'];
    expect(await all(query)).toEqual(wanted);
    expect(await all({ ...query, order: 'newest' })).toEqual([...wanted].reverse());
  });

  it.each(['2026-02-30', '2026-13-01', '0000-01-01', 'today'])(
    'have no page behind %s, which is no day',
    async (day) => {
      const cursor = Buffer.from(JSON.stringify([day, 'alpha', 'EUR'])).toString('base64url');
      expect(await new BooksDays(gateway.parts.database).list({ cursor })).toBeUndefined();
    },
  );
});
