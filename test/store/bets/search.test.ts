import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BET_STATES, betState, PLACES } from '../../../src/domain/bet-state.ts';
import { SEARCH_AMOUNT, spellingsOf } from '../../../src/store/bets/amount-search.ts';
import { ROLLBACKS, SETTLEMENTS } from '../../../src/store/bets/rows.ts';
import { type BetQuery, BetSearch, betCursorOf } from '../../../src/store/bets/search.ts';
import {
  FIND_PLAYER_IDS,
  SEARCH_ALL,
  SEARCH_ONE,
  SEARCH_OPERATOR,
  SEARCH_PLAYERS,
} from '../../../src/store/bets/search-statements.ts';
import { Database } from '../../../src/store/database.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { onServer } from '../../support/server.ts';

/** Far more than a page, and few enough to be fast. */
const BETS = 60_000;

const SEVEN_AND_A_HALF = {
  'bet-100': '7.5',
  'bet-200': '7.50',
  'bet-300': '7.500',
  'bet-400': '75e-1',
};

let database: TestDatabase;
let pool: Database;
let search: BetSearch;
beforeAll(async () => {
  database = await createDatabase();
  pool = new Database({ url: database.url, connectionsMax: 2, onIdleError: () => undefined });
  search = new BetSearch(pool);
  await onServer(database.url, async (client) => {
    await client.query(
      `INSERT INTO players (operator_id, operator_user, user_id)
       SELECT CASE WHEN n % 2 = 0 THEN 'alpha' ELSE 'beta' END, 'user-' || n / 2, 'id-' || n
         FROM generate_series(1, 2000) n`,
    );
    // Nearly all are settled; there are a few of each other state, all of them long ago.
    await client.query(
      `INSERT INTO bets (transaction_id, operator_id, player_id, amount, currency, generation,
                         place, settlement, settlement_amount, settlement_type, rollback,
                         busy_operation, busy_attempt, busy_until, created_at)
       SELECT 'bet-' || n, p.operator_id, p.id, '12.10', 'USD', 1,
              CASE WHEN n > 20 THEN 'accepted' WHEN n = 1 THEN 'in_flight' WHEN n < 6 THEN 'unknown'
                   WHEN n < 11 THEN 'declined' ELSE 'accepted' END,
              CASE WHEN n > 20 THEN 'settled' ELSE 'none' END,
              CASE WHEN n > 20 THEN '24.2' END, CASE WHEN n > 20 THEN 'won' END,
              CASE WHEN n BETWEEN 11 AND 15 THEN 'confirmed' ELSE 'none' END,
              CASE WHEN n = 1 THEN 'place' END, CASE WHEN n = 1 THEN gen_random_uuid() END,
              CASE WHEN n = 1 THEN now() + interval '1 hour' END,
              -- Several of one time, so that the id has to decide.
              '2026-01-01'::timestamptz + (n / 3) * interval '1 second'
         FROM generate_series(1, ${BETS}) n
         JOIN players p ON p.user_id = 'id-' || (1 + n % 1999)`,
    );
    // One stake in three spellings, and one unusual stake.
    for (const [id, amount] of Object.entries(SEVEN_AND_A_HALF)) {
      await client.query('UPDATE bets SET amount = $2 WHERE transaction_id = $1', [id, amount]);
    }
    await client.query('ANALYZE');
  });
});
afterAll(async () => {
  await pool.close();
  await database.drop();
});

const ids = async (query: BetQuery) =>
  (await search.page(query)).items.map(({ transactionId }) => transactionId);

describe('the search of bets', () => {
  it('brings the newest first, fifty a page, none twice and none left out', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    for (let pages = 0; cursor !== null && pages < 5; pages += 1) {
      const page = await search.page({ operator: 'alpha', cursor: betCursorOf(cursor) });
      expect(page.items).toHaveLength(50);
      seen.push(...page.items.map(({ transactionId }) => transactionId));
      cursor = page.nextCursor;
    }
    const { rows } = await onServer(database.url, (client) =>
      client.query(
        `SELECT transaction_id FROM bets WHERE operator_id = 'alpha'
          ORDER BY created_at DESC, transaction_id DESC LIMIT 250`,
      ),
    );
    expect(seen).toEqual(rows.map((row) => row.transaction_id));
  });

  it('goes on from the cursor of a list without an end, and shows nothing from after its own', async () => {
    const { items, nextCursor } = await search.page({ operator: 'alpha' });
    const cursor = betCursorOf(nextCursor ?? '');
    const to = new Date(items.at(-1)?.createdAt ?? '');
    const own = await ids({ operator: 'alpha', to });
    for (const end of [to, new Date(to.getTime() - 1)]) {
      const shown = (await search.page({ operator: 'alpha', to: end, cursor })).items;
      expect(shown).toHaveLength(50);
      expect(shown.filter(({ createdAt }) => new Date(createdAt) >= end)).toEqual([]);
    }
    expect(await ids({ operator: 'alpha', to, cursor })).toEqual(own);
  });

  it('finds by state, however rare and however long ago', async () => {
    expect(await ids({ state: 'in_flight' })).toEqual(['bet-1']);
    expect((await ids({ state: 'unknown' })).sort()).toEqual(['bet-2', 'bet-3', 'bet-4', 'bet-5']);
    expect(await ids({ state: 'rolled_back' })).toHaveLength(5);
    expect(await ids({ state: 'not_sent' })).toEqual([]);
    expect(await ids({ state: 'rolled_back', operator: 'empty' })).toEqual([]);
  });

  it('finds a player by either id, what is in flight too, at its own operator only (I8)', async () => {
    const [first] = (await search.page({ transactionId: 'bet-1' })).items;
    const { userId, operator, operatorUser } = first ?? {};
    if (!userId || !operator || !operatorUser) throw new Error('bet-1 has no player');
    const byId = await ids({ userId });
    expect(byId).toContain('bet-1');
    expect(await ids({ operator, operatorUser })).toEqual(byId);
    const other = operator === 'alpha' ? 'beta' : 'alpha';
    expect(await ids({ operator: other, userId })).toEqual([]);
    // Two people with the same name at two operators.
    expect((await ids({ operatorUser: 'user-7' })).length).toBeGreaterThan(
      (await ids({ operator, operatorUser: 'user-7' })).length,
    );
    expect(await ids({ userId: 'nobody' })).toEqual([]);
    expect(await ids({ userId, transactionId: 'bet-2' })).toEqual([]);
    expect(await ids({ userId, operatorUser })).toEqual(byId);
    expect(await ids({ userId, operatorUser: 'user-7000' })).toEqual([]);
    expect(await ids({ operator, userId, operatorUser })).toEqual(byId);
    expect(await ids({ operator: other, userId, operatorUser })).toEqual([]);
  });

  it('keeps to a stretch of time, its end not included', async () => {
    const from = new Date('2026-01-01T00:00:10Z');
    const to = new Date('2026-01-01T00:00:12Z');
    expect(await ids({ from, to })).toEqual([
      'bet-35',
      'bet-34',
      'bet-33',
      'bet-32',
      'bet-31',
      'bet-30',
    ]);
    expect(await ids({ from, to, operator: 'alpha' })).toHaveLength(3);
    expect(await ids({ from: to, to: from })).toEqual([]);
  });

  it('finds a stake in whatever spelling, alone and with all else that is asked', async () => {
    expect(await ids({ amount: '7.5' })).toEqual(['bet-300', 'bet-200', 'bet-100']);
    expect(await ids({ amount: '7.5000' })).toEqual(['bet-300', 'bet-200', 'bet-100']);
    expect(await ids({ amount: '7' })).toEqual([]);
    expect(await ids({ amount: '7.5', state: 'declined' })).toEqual([]);
    const [first] = (await search.page({ transactionId: 'bet-200' })).items;
    const { userId, operator } = first ?? {};
    if (!userId || !operator) throw new Error('bet-200 has no player');
    expect(await ids({ amount: '7.5', userId })).toEqual(['bet-200']);
    expect(await ids({ amount: '7.5', operator })).toContain('bet-200');
    expect(await ids({ amount: '7.5', operator: 'empty' })).toEqual([]);
    expect(await ids({ amount: '7.5', transactionId: 'bet-200' })).toEqual(['bet-200']);
    expect(await ids({ amount: '8', transactionId: 'bet-200' })).toEqual([]);
  });

  it('goes on from page to page among many bets of one stake, and leaves none out', async () => {
    const walk = async (query: BetQuery) => {
      const seen: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await search.page({ ...query, amount: '12.1', cursor: betCursorOf(cursor) });
        seen.push(...page.items.map(({ transactionId }) => transactionId));
        cursor = page.nextCursor;
      }
      return seen;
    };
    expect((await walk({ state: 'declined' })).sort()).toEqual([
      'bet-10',
      'bet-6',
      'bet-7',
      'bet-8',
      'bet-9',
    ]);
    const [from, to] = ['2026-01-01T00:10:00Z', '2026-01-01T00:12:00Z'].map((at) => new Date(at));
    const inTwoMinutes = await walk({ from, to });
    expect(inTwoMinutes).toHaveLength(360);
    expect(new Set(inTwoMinutes).size).toBe(360);
  });

  it('shows a bet with its exact amounts (I9)', async () => {
    const [bet] = (await search.page({ transactionId: 'bet-500' })).items;
    expect(bet).toMatchObject({
      state: 'settled',
      amount: '12.10',
      currency: 'USD',
      settlement: { amount: '24.2', resultType: 'won' },
      createdAt: '2026-01-01T00:02:46.000Z',
    });
  });

  it('accepts no invalid cursor', () => {
    for (const text of [
      '',
      'x',
      '1',
      '1.',
      '.x',
      '1.AA==',
      `1.${Buffer.from('\0').toString('base64url')}`,
    ]) {
      expect(betCursorOf(text)).toBeUndefined();
    }
  });

  const RANGE = {
    states: BET_STATES,
    from: undefined,
    before: undefined,
    beforeId: '',
    limit: 51,
  } as const;
  const AMOUNT = { amounts: spellingsOf('7.5'), operatorId: undefined };
  const RARE = { ...RANGE, states: ['declined'] } as const;
  const PLAYER = { playerIds: ['7'], amounts: undefined };
  const NAMES = { operatorId: undefined, operatorUser: 'user-7', userId: undefined };
  it.each([
    ['everything', SEARCH_ALL.text, SEARCH_ALL.values(RANGE)],
    ['a rare state', SEARCH_ALL.text, SEARCH_ALL.values(RARE)],
    [
      'an operator’s rare state',
      SEARCH_OPERATOR.text,
      SEARCH_OPERATOR.values({ ...RARE, operatorId: 'alpha' }),
    ],
    ['a stake', SEARCH_AMOUNT.text, SEARCH_AMOUNT.values({ ...RANGE, ...AMOUNT })],
    ['a player', SEARCH_PLAYERS.text, SEARCH_PLAYERS.values({ ...RANGE, ...PLAYER })],
    ['a name at all operators', FIND_PLAYER_IDS.text, FIND_PLAYER_IDS.values(NAMES)],
    [
      'a bet',
      SEARCH_ONE.text,
      SEARCH_ONE.values({
        ...RANGE,
        transactionId: 'bet-7',
        operatorId: undefined,
        playerIds: undefined,
        amounts: undefined,
      }),
    ],
  ])('reads %s by an index, and no more than some pages of it', async (_, text, values) => {
    const plan = await onServer(database.url, async (client) => {
      await client.query('SET plan_cache_mode = force_custom_plan');
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...values]);
      return rows[0]['QUERY PLAN'][0].Plan;
    });
    const nodes = nodesOf(plan);
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
    // Of fifty bets each; ten states may each return a page.
    for (const node of nodes) expect(node['Actual Rows']).toBeLessThan(600);
    const removed = nodes.map((node) => node['Rows Removed by Filter'] ?? 0);
    expect(Math.max(...removed)).toBeLessThan(200);
  });

  it('has the same word for a state in the database and here', async () => {
    for (const place of PLACES) {
      for (const settlement of SETTLEMENTS) {
        for (const rollback of ROLLBACKS) {
          const [row] = (
            await onServer(database.url, (client) =>
              client.query('SELECT bet_state($1, $2, $3) AS state', [place, settlement, rollback]),
            )
          ).rows;
          expect(row.state).toBe(betState({ place, settlement, rollback }));
          expect(BET_STATES).toContain(row.state);
        }
      }
    }
  });
});

interface Node {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Node[];
}

function nodesOf(node: Node): readonly Node[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
