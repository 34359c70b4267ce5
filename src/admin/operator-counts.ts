import type { OpenCount } from '../store/deliveries/backlog.ts';
import type { OpenCounts } from '../store/deliveries/backlog-counts.ts';

/** A count that is still going on: there are more. */
type CountedAs = 'openDeliveries' | 'deadDeliveries' | 'unresolvedBets';

/** What is open at one operator, as `GET /admin/operators` shows it; null: not known. */
export interface OperatorCounts {
  readonly openDeliveries: number | null;
  /** ISO 8601 UTC. */
  readonly oldestDelivery: string | null;
  readonly deadDeliveries: number | null;
  readonly unresolvedBets: number | null;
  readonly countsAtLeast: readonly CountedAs[];
}

/** A delivery that is being tried within its callback does not wait yet, so that it is not shown. */
export function operatorCounts(open: OpenCounts | undefined, operator: string): OperatorCounts {
  const own = (counts: readonly OpenCount[] = []) =>
    counts.filter((one) => one.operator === operator);
  const sum = (counts: readonly OpenCount[]) =>
    open === undefined ? null : counts.reduce((total, { count }) => total + count, 0);
  const waiting = own(open?.waiting);
  const dead = own(open?.dead);
  const unresolved = own(open?.unresolved);
  const since = waiting.flatMap(({ sinceMs }) => sinceMs ?? []);
  return {
    openDeliveries: sum(waiting),
    oldestDelivery: since.length === 0 ? null : new Date(Math.min(...since)).toISOString(),
    deadDeliveries: sum(dead),
    unresolvedBets: sum(unresolved),
    countsAtLeast: [
      ...goingOn('openDeliveries', waiting),
      ...goingOn('deadDeliveries', dead),
      ...goingOn('unresolvedBets', unresolved),
    ],
  };
}

function goingOn(name: CountedAs, counts: readonly OpenCount[]): readonly CountedAs[] {
  return counts.some(({ isAtLeast }) => isAtLeast) ? [name] : [];
}
