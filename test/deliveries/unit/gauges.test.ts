import type { Gauge } from 'prom-client';
import { describe, expect, it, vi } from 'vitest';
import { DeliveryGauges } from '../../../src/deliveries/gauges.ts';
import { WithoutFile } from '../../../src/deliveries/without-file.ts';
import type { OpenCount, OpenCounts } from '../../../src/store/deliveries/backlog.ts';
import type { DeliveryCount, DeliveryStore } from '../../../src/store/deliveries/queue.ts';
import { createMetrics } from '../../../src/telemetry/metrics.ts';
import { partly } from '../../support/partly.ts';

/** How the gauges show what the store counts; the other `gauges.test.ts` tests their age. */

type Ended = Awaited<ReturnType<DeliveryStore['countEnded']>>;

const NOW_MS = 1_000_000_000;

function open(
  operator: string,
  state: string,
  count: number,
  { oldestSeconds = 0, operation = 'rollback' } = {},
): OpenCount {
  const sinceMs = NOW_MS - oldestSeconds * 1_000;
  return { operator, operation, state, count, sinceMs, nowMs: NOW_MS, isAtLeast: false };
}

const unresolvedBets = (operator: string, count: number): OpenCount =>
  open(operator, 'unresolved', count, { operation: 'place' });

/** Grouped as the store groups them. */
function countsOf(counts: readonly OpenCount[]): OpenCounts {
  const inState = (...states: string[]) => counts.filter(({ state }) => states.includes(state));
  return {
    live: inState('live'),
    waiting: inState('pending', 'held'),
    dead: inState('dead'),
    unresolved: inState('unresolved'),
    unknownResults: [],
  };
}

const ended = (operator: string, count: number, more: Partial<DeliveryCount> = {}) => ({
  ...{ operator, operation: 'rollback', state: 'delivered', count },
  ...more,
});

/** Gauges over counts that the test gives one after another; the last one stays. */
function gaugesOf(
  counts: {
    readonly open?: readonly (readonly OpenCount[])[];
    readonly until?: readonly number[];
    readonly ended?: (from: Date, to: Date, rows: number) => Ended;
  },
  held: readonly string[] = [],
) {
  const inTurn = <T>(values: readonly T[], none: T) => {
    let turn = 0;
    return async () => {
      turn += 1;
      return values[Math.min(turn, values.length) - 1] ?? none;
    };
  };
  const nextUntil = inTurn(counts.until ?? [], 1_000);
  const countEnded = vi.fn(async (from: Date, to: Date, rows: number) =>
    counts.ended === undefined ? { counts: [], until: to } : counts.ended(from, to, rows),
  );
  const store = {
    countableUntil: async () => new Date(await nextUntil()),
    countEnded,
  };
  const nextOpen = inTurn(counts.open ?? [], []);
  const look = async () => countsOf(await nextOpen());
  const metrics = createMetrics();
  const configured = new Set(['alpha', 'beta']);
  const error = vi.fn();
  const gauges = new DeliveryGauges({
    ...{ backlog: { look }, store: partly<DeliveryStore>(store), metrics },
    isHeld: (id) => held.includes(id),
    withoutFile: new WithoutFile({ error }, (id) => configured.has(id)),
  });
  const shown = async (gauge: Gauge) => {
    const { values } = await gauge.get();
    return Object.fromEntries(
      values.map(({ labels, value }) => [Object.values(labels).join(' '), value]),
    );
  };
  return { gauges, metrics, shown, countEnded, configured, error };
}

describe('open deliveries', () => {
  it('is shown by operator, operation and state, summed where the store tells it apart', async () => {
    const { gauges, metrics, shown } = gaugesOf(
      {
        open: [
          [
            open('alpha', 'pending', 2),
            open('alpha', 'live', 3),
            open('alpha', 'held', 4),
            open('alpha', 'dead', 5),
            open('alpha', 'pending', 6, { operation: 'settle' }),
            open('beta', 'pending', 7),
            open('beta', 'dead', 8),
          ],
        ],
      },
      ['beta'],
    );
    await gauges.refresh();
    expect(await shown(metrics.deliveries)).toEqual({
      ...{ 'alpha rollback pending': 5, 'alpha rollback held': 4, 'alpha rollback dead': 5 },
      'alpha settle pending': 6,
      // Its operator accepts no calls, so none of its deliveries is under way. Dead ones stay dead.
      ...{ 'beta rollback held': 7, 'beta rollback dead': 8 },
    });
  });

  it('has an age: its oldest, and of the rollbacks theirs, without what is dead (I4)', async () => {
    const { gauges, metrics, shown } = gaugesOf({
      open: [
        [
          open('alpha', 'pending', 1, { oldestSeconds: 5 }),
          open('alpha', 'held', 1, { oldestSeconds: 9 }),
          open('alpha', 'dead', 1, { oldestSeconds: 70 }),
          open('alpha', 'pending', 1, { oldestSeconds: 30, operation: 'settle' }),
          open('beta', 'pending', 1, { oldestSeconds: 3, operation: 'update' }),
          open('beta', 'dead', 1, { oldestSeconds: 80 }),
        ],
      ],
    });
    await gauges.refresh();
    expect(await shown(metrics.deliveryOldest)).toEqual({ alpha: 30, beta: 3 });
    expect(await shown(metrics.rollbackOldest)).toEqual({ alpha: 9 });
  });
});

describe('finished deliveries', () => {
  it('is counted since the last look only, and added up', async () => {
    const { gauges, metrics, shown, countEnded } = gaugesOf({
      until: [1_000, 2_500],
      ended: (_, until) => ({
        until,
        counts: [ended('alpha', 2), ended('alpha', 5, { state: 'refused' }), ended('beta', 1)],
      }),
    });
    await gauges.refresh();
    await gauges.refresh();
    expect(countEnded.mock.calls.map(([from, to]) => [from.getTime(), to.getTime()])).toEqual([
      [0, 1_000],
      [1_000, 2_500],
    ]);
    expect(await shown(metrics.deliveries)).toEqual({
      ...{
        'alpha rollback delivered': 4,
        'alpha rollback refused': 10,
        'beta rollback delivered': 2,
      },
    });
  });
});

describe('an operator whose file is gone', () => {
  const note =
    'operators/ has no file for it: its deliveries are held, and its bets wait, until the file is back';

  it('is told as an error with what waits, once until its file is back (I4)', async () => {
    const { gauges, configured, error } = gaugesOf({
      open: [[open('beta', 'held', 2), open('beta', 'live', 1), unresolvedBets('beta', 4)]],
    });
    await gauges.refresh();
    expect(error).not.toHaveBeenCalled();
    configured.delete('beta');
    await gauges.refresh();
    await gauges.refresh();
    const facts = { operator: 'beta', openDeliveries: 3, unresolvedBets: 4, note };
    expect(error.mock.calls).toEqual([[facts, 'operator.file_missing']]);
    configured.add('beta');
    await gauges.refresh();
    configured.delete('beta');
    await gauges.refresh();
    expect(error).toHaveBeenCalledTimes(2);
  });
});
