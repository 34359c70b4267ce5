import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../../../src/store/database.ts';
import { forgetPlayer } from '../../../src/store/players/forget.ts';
import { PlayerDesk } from '../../../src/store/players/player-desk.ts';
import { createPrisma } from '../../../src/store/schema/prisma.ts';
import { BY } from '../../support/audit.ts';
import { type OpenDatabase, openDatabase } from '../../support/database.ts';
import { insertQuietDeliveries } from '../../support/quiet-statistics.ts';

const BETS = 300;
const DEAD = 3_000;

let database: OpenDatabase;
beforeAll(async () => {
  database = await openDatabase();
  const { client } = database;
  await insertQuietDeliveries(client);
  await client.query(`
    INSERT INTO players (id, operator_id, operator_user, user_id) VALUES (1, 'alpha', 'ann', 'user-1');
    INSERT INTO bets (transaction_id, operator_id, player_id, generation, place, settlement, amount, currency)
    SELECT 'bet-' || n, 'alpha', 1, 1, 'accepted', 'settled', '1', 'EUR' FROM generate_series(1, ${BETS}) n;
    INSERT INTO deliveries (operation_id, operator_id, transaction_id, operation, state,
                            transaction_time, next_attempt_at, dead_at)
    SELECT 100000 + n, 'alpha', 'other-' || n, 'rollback', 'dead', '', now(), now() FROM generate_series(1, ${DEAD}) n;
    ANALYZE bets`);
});
afterAll(() => database.drop());

/** How many entries of the indexes of deliveries are read, on connections that `act` opens and closes. */
async function entriesRead(act: (url: string) => Promise<void>): Promise<number> {
  const { client, url } = database;
  await client.query('SELECT pg_stat_reset()');
  // A connection that ends reports what it has read.
  await act(url);
  const ended = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`;
  await expect.poll(async () => (await client.query(ended)).rowCount, { timeout: 10_000 }).toBe(0);
  const { rows } = await client.query<{ read: string }>(
    `SELECT sum(idx_tup_read) AS read FROM pg_stat_user_indexes WHERE relname = 'deliveries'`,
  );
  return Number(rows[0]?.read);
}

it("shows a player's page without reading all dead letters for each bet", async () => {
  const read = await entriesRead(async (url) => {
    const each = new Database({ url, connectionsMax: 1, onIdleError: () => undefined });
    const file = await new PlayerDesk(each).file('user-1');
    expect(file?.totals).toMatchObject([{ bets: BETS, open: 0 }]);
    await each.close();
  });
  expect(read).toBeLessThan(2 * DEAD);
});

it('forgets a player without reading all dead letters for each bet', async () => {
  const read = await entriesRead(async (url) => {
    const prisma = createPrisma(url);
    expect(await forgetPlayer(prisma, 'user-1', BY)).toMatchObject({
      kind: 'forgotten',
      bets: BETS,
    });
    await prisma.$disconnect();
  });
  expect(read).toBeLessThan(4 * DEAD);
});
