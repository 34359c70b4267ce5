import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_DEAD } from '../../../src/store/bets/ended.ts';
import { DeliveryAdmin } from '../../../src/store/deliveries/delivery-admin.ts';
import { createPrisma, type Prisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { rowsOf } from '../../support/server.ts';

/** Confirmed long ago, before everything that waits. */
const ENDED = 60_000;
/** How many are pending, and how many are dead. */
const OPEN = 6_000;

let database: TestDatabase;
let prisma: Prisma;
let admin: DeliveryAdmin;
beforeAll(async () => {
  database = await createDatabase();
  prisma = createPrisma(database.url);
  admin = new DeliveryAdmin({ prisma, isHeld: () => false, horizonHours: () => 24 });
  await raw(`
    INSERT INTO bets (transaction_id, operator_id, generation, place, settlement)
    SELECT 'bet-' || n, 'alpha', 1 + (n > ${OPEN})::int, 'accepted', 'settled'
      FROM generate_series(1, ${2 * OPEN}) n;
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, next_attempt_at, dead_at, settled_at)
    SELECT n, 'alpha', 'ended-' || n, 'settle', 'delivered', '', now(), now(), now()
      FROM generate_series(1, ${ENDED}) n;
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state, held,
                            transaction_time, next_attempt_at, dead_at, created_at)
    SELECT ${ENDED} + 1 + n, 'alpha', 'bet-' || (1 + n / 2), 'settle',
           CASE n % 2 WHEN 0 THEN 'pending' ELSE 'dead' END, n % 2 = 0 AND n / 2 < ${OPEN},
           '', now() + interval '1 hour', now(), now() - interval '2 hours'
      FROM generate_series(0, ${4 * OPEN} - 1) n;
    ANALYZE`);
}, 60_000);
afterAll(async () => {
  await prisma.$disconnect();
  await database.drop();
});

const raw = (text: string) => rowsOf(database.url, text);

describe('with very many deliveries that ended, wait and are dead', () => {
  it.each(['held', 'dead'] as const)(
    'a page of those that are %s is read, and no more',
    async (state) => {
      await raw('SELECT pg_stat_force_next_flush()');
      await raw('SELECT pg_stat_reset()');
      const looking = createPrisma(database.url);
      const desk = new DeliveryAdmin({
        prisma: looking,
        isHeld: () => false,
        horizonHours: () => 24,
      });
      const { items } = await desk.list({ operator: 'alpha', state, limit: 50 });
      await looking.$disconnect();
      expect(items).toHaveLength(50);
      const [read] = await raw(
        `SELECT seq_tup_read::int + idx_tup_fetch::int AS rows FROM pg_stat_user_tables
        WHERE relname = 'deliveries'`,
      );
      expect(read?.rows).toBeLessThan(1_000);
    },
  );

  it('a count stops after its time, and says that there may be more', async () => {
    const all = { count: ENDED + 4 * OPEN, isAtLeast: false };
    expect(await admin.count({})).toEqual(all);
    expect(await admin.count({ operation: 'update' }, 0)).toEqual({ count: 0, isAtLeast: true });
    const { count, isAtLeast } = await admin.count({}, 0);
    expect(isAtLeast).toBe(true);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(all.count);
  });

  it.each(['dead', 'held'] as const)(
    'a count of those that are %s reads no others, so that it is whole in no time',
    async (state) => {
      const whole = { count: state === 'dead' ? 2 * OPEN : OPEN, isAtLeast: false };
      expect(await admin.count({ state }, 0)).toEqual(whole);
      expect(await admin.count({ state, operator: 'alpha' }, 0)).toEqual(whole);
      expect(await admin.count({ state, operator: 'beta' }, 0)).toEqual({ ...whole, count: 0 });
    },
  );

  it('whether a bet has a dead letter is asked of its own, not of all', async () => {
    const plan = await raw(
      `EXPLAIN SELECT ${HAS_DEAD} AS has FROM bets b WHERE b.transaction_id = 'bet-7'`,
    );
    expect(JSON.stringify(plan)).toContain('deliveries_bet_dead_idx');
  });

  it('a release reaches each that waits for it, and none of a newer generation (I4)', async () => {
    await admin.release('alpha', { upTo: 2, to: 2 }, BY);
    const [waiting] = await raw(`
      SELECT count(*) FILTER (WHERE b.generation = 1 AND NOT d.held AND d.next_attempt_at <= now()
                                AND d.dead_at > now() + interval '1 hour')::int AS released,
             count(*) FILTER (WHERE b.generation = 2 AND d.next_attempt_at > now() AND d.dead_at < now())::int AS left,
             count(*)::int AS all
        FROM deliveries d JOIN bets b USING (transaction_id) WHERE d.state = 'pending'`);
    expect(waiting).toEqual({ released: OPEN, left: OPEN, all: 2 * OPEN });
    expect(await raw(`SELECT action, after FROM audit`)).toEqual([
      { action: 'deliveries.release', after: { released: 2, to: 2 } },
    ]);
  });
});
