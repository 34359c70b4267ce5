import { expect, it, onTestFinished, vi } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import { Database } from '../../../src/store/database.ts';
import { ReconciliationDifferences } from '../../../src/store/reconciliation/differences.ts';
import { ReconciliationRuns } from '../../../src/store/reconciliation/runs.ts';
import { BY } from '../../support/audit.ts';
import { openDatabase } from '../../support/database.ts';
import { onServer, rowsOf, waitForLock } from '../../support/server.ts';
import { PATIENT_MS } from '../../support/timing.ts';

const COUNTS = {
  ...{ agree: 0, missing_there: 0, missing_here: 0, amount_differs: 0, state_differs: 0 },
  ...{ currency_differs: 0, duplicate_there: 0, unreadable: 0 },
};

async function openRuns() {
  const { client, url, drop } = await openDatabase();
  onTestFinished(drop);
  const database = new Database({ url, connectionsMax: 4, onIdleError: () => undefined });
  onTestFinished(() => database.close());
  const notRecounted = vi.fn();
  const runs = new ReconciliationRuns(database, notRecounted);
  const differences = new ReconciliationDifferences(database);
  const day = '2026-11-20';
  const plan = { operatorId: 'alpha', from: day, to: day, timeZone: 'UTC', actor: 'ann' };
  const found = {
    kind: 'missing_there',
    here: null,
    there: null,
    line: null,
    reason: null,
  } as const;
  /** A run that has found that these bets are missing there. */
  const begin = async (...bets: readonly string[]) => {
    const { id } = await runs.begin(plan);
    const all = bets.map((transactionId) => ({ ...found, transactionId }));
    await differences.note({ id, operatorId: 'alpha' }, all, 1);
    return id;
  };
  /** Of a done run and of a later one, of as many bets. */
  const openIn = async (earlier: string, later: string) => {
    const [end, before] = [await runs.find(later), await runs.find(earlier)];
    return [end?.state, end?.open?.missing_there, before?.open?.missing_there];
  };
  return { client, url, runs, notRecounted, differences, begin, openIn };
}

const countsOf = (missing: number) => ({ ...COUNTS, missing_there: missing });

it.each([
  ['after', 'reconciliations'],
  ['before', 'reconciliation_differences'],
] as const)(
  'a difference that is resolved just %s a later run ends is not open in that run',
  async (when, table) => {
    const { client, url, runs, differences, begin, openIn } = await openRuns();
    const earlier = await begin('bet');
    expect(await runs.finish(earlier, countsOf(1))).toBe(true);
    const [difference] = (await differences.list({ runId: earlier })).items;
    const later = await begin('bet');
    const finish = () => runs.finish(later, countsOf(1));
    const resolve = () => differences.resolve(earlier, difference?.id ?? '', BY);

    // Of a large run the end takes long: here the first of the two waits for a row, and the second begins meanwhile.
    await client.query(`BEGIN; SELECT FROM ${table} FOR UPDATE`);
    const first = when === 'after' ? finish() : resolve();
    await waitForLock(url);
    const second = when === 'after' ? resolve() : finish();
    await waitForLock(url, 2);
    await client.query('COMMIT');
    await Promise.all([first, second]);
    expect(await openIn(earlier, later)).toEqual(['done', 0, 0]);
  },
);

it('of two differences, one resolved as a later run ends and one as that is counted again, none is open in it', async () => {
  const { client, url, runs, differences, begin, openIn } = await openRuns();
  const [one, two] = [await begin('one'), await begin('two')];
  const ids: string[] = [];
  for (const runId of [one, two]) {
    expect(await runs.finish(runId, countsOf(1))).toBe(true);
    ids.push(...(await differences.list({ runId })).items.map(({ id }) => id));
  }
  const later = await begin('one', 'two');

  await onServer(url, async (other) => {
    const lock = 'BEGIN; SELECT FROM reconciliation_differences WHERE id =';
    await client.query(`${lock} ${ids[0]} FOR UPDATE`);
    await other.query(`${lock} ${ids[1]} FOR UPDATE`);
    const first = differences.resolve(one, ids[0] ?? '', BY);
    await waitForLock(url);
    const finished = runs.finish(later, countsOf(2));
    await waitForLock(url, 2);
    const second = differences.resolve(two, ids[1] ?? '', BY);
    await waitForLock(url, 3);
    await client.query('COMMIT');
    await first;
    // The second has its turn once the run is done. What counts again waits for it, or was faster.
    let isOver = false;
    const over = finished.finally(() => {
      isOver = true;
    });
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await vi.waitFor(
      async () => expect(isOver || (await rowsOf(url, waiting)).length === 2).toBe(true),
      { timeout: PATIENT_MS },
    );
    await other.query('COMMIT');
    await Promise.all([over, second]);
  });
  expect(await openIn(one, later)).toEqual(['done', 0, 0]);
});

it('a run is done, and says so, also where it cannot be counted once more what of it is open', async () => {
  const { client, runs, notRecounted, begin } = await openRuns();
  const id = await begin('bet');
  await client.query(
    `CREATE FUNCTION too_slow() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014'; END $$`,
  );
  await client.query(
    `CREATE TRIGGER too_slow BEFORE UPDATE ON reconciliations
       FOR EACH ROW WHEN (OLD.state = 'done') EXECUTE FUNCTION too_slow()`,
  );
  expect(await runs.finish(id, countsOf(1))).toBe(true);
  expect(await runs.find(id)).toMatchObject({ state: 'done', open: { missing_there: 1 } });
  // What was resolved at that moment counts as open until the next list: somebody has to be able to learn why.
  expect(notRecounted.mock.calls).toEqual([[id, expect.any(GatewayError)]]);
});
