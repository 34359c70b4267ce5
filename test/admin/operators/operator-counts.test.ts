import { expect, it } from 'vitest';
import { countsWithoutFile, operatorCounts } from '../../../src/admin/operators/operator-counts.ts';
import type { OpenCount, OpenCounts } from '../../../src/store/deliveries/backlog.ts';

const NOW_MS = Date.UTC(2026, 10, 22);

const of = (operator: string, count: number, more: Partial<OpenCount> = {}): OpenCount => ({
  ...{ operator, count, operation: 'rollback', state: 'pending', isAtLeast: false },
  ...{ sinceMs: NOW_MS - 60_000, nowMs: NOW_MS },
  ...more,
});

const nobody = () => false;

const OPEN: OpenCounts = {
  live: [of('alpha', 9, { state: 'live' })],
  waiting: [
    of('alpha', 2),
    of('alpha', 3, { state: 'held', sinceMs: NOW_MS - 90_000 }),
    of('beta', 500_000, { sinceMs: undefined, isAtLeast: true }),
  ],
  dead: [of('beta', 4, { state: 'dead' })],
  unresolved: [of('alpha', 1, { operation: 'place', state: 'unresolved', isAtLeast: true })],
  unknownResults: [],
};

it('shows an operator what waits, held or not, since when, what is dead and what is unresolved (I8)', () => {
  expect(operatorCounts(OPEN, nobody)('alpha')).toEqual({
    ...{ openDeliveries: 5, heldDeliveries: 3, oldestDelivery: '2026-11-21T23:58:30.000Z' },
    ...{ deadDeliveries: 0, unresolvedBets: 1, countsAtLeast: ['unresolvedBets'] },
  });
  expect(operatorCounts(OPEN, nobody)('beta')).toEqual({
    ...{ openDeliveries: 500_000, heldDeliveries: 0, oldestDelivery: null },
    ...{ deadDeliveries: 4, unresolvedBets: 0, countsAtLeast: ['openDeliveries'] },
  });
});

it('shows all that waits as held where the operator takes no deliveries', () => {
  const { openDeliveries, heldDeliveries } = operatorCounts(OPEN, () => true)('alpha');
  expect([openDeliveries, heldDeliveries]).toEqual([5, 5]);
});

it('does not take unknown counts for nothing waiting', () => {
  const nothing = { oldestDelivery: null, countsAtLeast: [] };
  expect(operatorCounts(OPEN, nobody)('gamma')).toEqual({
    ...nothing,
    ...{ openDeliveries: 0, heldDeliveries: 0, deadDeliveries: 0, unresolvedBets: 0 },
  });
  expect(operatorCounts(undefined, nobody)('alpha')).toEqual({
    ...nothing,
    ...{ openDeliveries: null, heldDeliveries: null, deadDeliveries: null, unresolvedBets: null },
  });
});

it('goes through what is open once, for however many operators it is asked (I7)', () => {
  let looks = 0;
  const ids = Array.from({ length: 50 }, (_, at) => `operator-${at}`);
  const counted = ids.map((id) => ({
    ...of(id, 1),
    get operator() {
      looks += 1;
      return id;
    },
  }));
  const countsOf = operatorCounts({ ...OPEN, waiting: counted, dead: counted }, nobody);
  expect(ids.map((id) => countsOf(id).openDeliveries)).toEqual(ids.map(() => 1));
  expect(looks).toBe(2 * ids.length);
});

it('names operators without a file that have something open, whatever it is', () => {
  const left = countsWithoutFile(OPEN, (id) => id === 'alpha');
  expect(left).toEqual([{ id: 'beta', ...operatorCounts(OPEN, () => true)('beta') }]);
  expect(countsWithoutFile(OPEN, () => true)).toEqual([]);
  expect(countsWithoutFile(undefined, () => false)).toEqual([]);
});
