import { systemClock } from '../../src/domain/clock.ts';
import { BetJournal } from '../../src/store/bets/journal.ts';
import { BacklogCounts } from '../../src/store/deliveries/backlog-counts.ts';
import { DeliveryStore } from '../../src/store/deliveries/queue.ts';
import { DatabaseClock } from '../../src/store/server/database-clock.ts';
import type { Scene } from './scene.ts';

export interface SweepResult {
  readonly deliveredRows: number;
  readonly openRows: number;
  /** The statements that a sweep runs every second, median and longest. */
  readonly sweepMs: { readonly median: number; readonly max: number };
  /** Counting for the gauges, which happens every few seconds. */
  readonly gaugesMs: number;
  /** The same when a process starts and has counted nothing yet. */
  readonly firstGaugesMs: number;
}

const SWEEPS = 30;
const ORIGINATE_MS = 600_000;

/** What the sweep costs when the table holds this many finished deliveries. */
export async function measureSweep(scene: Scene, deliveredRows: number): Promise<SweepResult> {
  // Only reading is measured, not how the rows were written.
  await scene.query('SET synchronous_commit = off');
  await scene.fill('alpha', 'history', deliveredRows, 'delivered');
  const store = new DeliveryStore(scene.database);
  const backlog = new BacklogCounts(scene.database, systemClock);
  const bets = new BetJournal(scene.database, new DatabaseClock(scene.database, systemClock));
  const sweep = async () => {
    await bets.recoverLapsed(500);
    await store.overdueUnknown(new Map([['alpha', ORIGINATE_MS]]), 100);
    const open = await store.openOperators();
    await store.countHeld(open.map(({ operatorId }) => operatorId));
  };
  /** Counted in one piece, which a starting process avoids. */
  const ALL = 1_000_000_000;
  const gauges = async (from: Date) => {
    const until = await store.countableUntil();
    await Promise.all([store.countEnded(from, until, ALL), backlog.look()]);
    return until;
  };
  await sweep();
  const sweepsMs: number[] = [];
  for (let n = 0; n < SWEEPS; n += 1) sweepsMs.push(await timed(sweep));
  sweepsMs.sort((a, b) => a - b);
  const firstGaugesMs = await timed(() => gauges(new Date(0)));
  const gaugesMs = await timed(() => gauges(new Date()));
  const [rows] = await scene.query<{ ended: number; open: number }>(
    `SELECT count(*) FILTER (WHERE state = 'delivered')::int AS ended,
            count(*) FILTER (WHERE state = 'pending')::int AS open FROM deliveries`,
  );
  return {
    deliveredRows: rows?.ended ?? 0,
    openRows: rows?.open ?? 0,
    sweepMs: { median: tenths(sweepsMs[SWEEPS / 2] ?? 0), max: tenths(sweepsMs.at(-1) ?? 0) },
    gaugesMs: tenths(gaugesMs),
    firstGaugesMs: tenths(firstGaugesMs),
  };
}

export function sweepLine(result: SweepResult): string {
  const { deliveredRows, openRows, sweepMs, gaugesMs, firstGaugesMs } = result;
  return [
    `${deliveredRows} delivered and ${openRows} waiting rows:`,
    `a sweep takes ${sweepMs.median} ms (at most ${sweepMs.max}),`,
    `counting for the gauges ${gaugesMs} ms, the first time ${firstGaugesMs} ms`,
  ].join(' ');
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}
