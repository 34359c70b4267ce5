import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { connect, rowsOf, waitForLock } from '../../support/server.ts';
import { bets, commit, commitOf, find, journal, newBet, stored, useBets } from './support/bets.ts';

useBets();

const busyWith = (operation: 'settle' | 'rollback') => ({
  busy: { operation, attemptId: randomUUID(), lapsed: false },
});

describe('the first operation of a bet that is not in the journal', () => {
  it('has a lease, after which its bet is free again if its process was killed (I4, I6)', async () => {
    const bet = newBet();
    await commit(commitOf(bet, busyWith('settle')));
    const [row] = await rowsOf(
      journal.url,
      `SELECT extract(epoch FROM busy_until - clock_timestamp())::float8 AS for FROM bets
        WHERE transaction_id = '${bet.transactionId}'`,
    );
    expect(Number(row?.for)).toBeGreaterThan(5);
    await journal.sql(`UPDATE bets SET busy_until = clock_timestamp() - interval '1 s'`);
    expect(await bets.recoverLapsed(10)).toMatchObject([{ transactionId: bet.transactionId }]);
    expect(await find(bet)).toMatchObject({ busy: undefined, settlement: { kind: 'unknown' } });
  });

  it('waits for one that another session has not committed, and is written if that comes to nothing (I6)', async () => {
    await stored();
    const bet = newBet();
    const other = await connect(journal.url);
    await other.query('BEGIN');
    await other.query(
      `INSERT INTO bets
       SELECT (jsonb_populate_record(NULL::bets, to_jsonb(b) || jsonb_build_object('transaction_id', $1::text))).*
         FROM (SELECT * FROM bets LIMIT 1) b`,
      [bet.transactionId],
    );
    const written = commit(commitOf(bet, busyWith('rollback')));
    await waitForLock(journal.url);
    // Its connection is free in between, for other bets.
    await expect.poll(() => waiters()).toBe(0);
    await Promise.race([waitForLock(journal.url), written]);
    await other.query('ROLLBACK');
    await other.end();
    expect(await written).toMatch(/^\d+$/);
  });
});

async function waiters(): Promise<number> {
  const [row] = await rowsOf(
    journal.url,
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return Number(row?.count);
}
