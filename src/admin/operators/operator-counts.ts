import type { OpenCount, OpenCounts } from '../../store/deliveries/backlog.ts';

type CountedAs = 'openDeliveries' | 'deadDeliveries' | 'unresolvedBets';

/** An operator's open deliveries and bets; null: not known, while PostgreSQL does not answer. */
export interface OperatorCounts {
  readonly openDeliveries: number | null;
  /** How many of those have the state `held`. */
  readonly heldDeliveries: number | null;
  /** When the oldest waiting promise was made, ISO 8601 UTC; null also if there is none. */
  readonly oldestDelivery: string | null;
  readonly deadDeliveries: number | null;
  readonly unresolvedBets: number | null;
  /** The counts that are lower bounds: more of one operator are not counted. */
  readonly countsAtLeast: readonly CountedAs[];
}

/** Deliveries attempted inside their callbacks are not counted. @param isHeld whether the operator takes none now */
export function operatorCounts(
  open: OpenCounts | undefined,
  isHeld: (operator: string) => boolean,
): (operator: string) => OperatorCounts {
  // Grouped once, rather than filtered per operator: there may be a thousand.
  const waiting = byOperator(open?.waiting);
  const dead = byOperator(open?.dead);
  const unresolved = byOperator(open?.unresolved);
  return (operator) =>
    countsOf(open !== undefined, {
      waiting: waiting.get(operator) ?? [],
      isHeld: isHeld(operator),
      dead: dead.get(operator) ?? [],
      unresolved: unresolved.get(operator) ?? [],
    });
}

/** Operators with open deliveries or bets but no file, which may have been removed by mistake. In order of id. */
export function countsWithoutFile(
  open: OpenCounts | undefined,
  isConfigured: (operator: string) => boolean,
): readonly (OperatorCounts & { readonly id: string })[] {
  if (open === undefined) return [];
  const rows = [...open.waiting, ...open.dead, ...open.unresolved];
  const ids = new Set(rows.map(({ operator }) => operator).filter((id) => !isConfigured(id)));
  const countsOfOne = operatorCounts(open, () => true);
  return [...ids].sort().map((id) => ({ id, ...countsOfOne(id) }));
}

function byOperator(counts: readonly OpenCount[] = []): ReadonlyMap<string, OpenCount[]> {
  return Map.groupBy(counts, ({ operator }) => operator);
}

function countsOf(
  isKnown: boolean,
  counted: Pick<OpenCounts, 'waiting' | 'dead' | 'unresolved'> & { readonly isHeld: boolean },
): OperatorCounts {
  const { waiting, isHeld, dead, unresolved } = counted;
  const sum = (counts: readonly OpenCount[]) =>
    isKnown ? counts.reduce((total, { count }) => total + count, 0) : null;
  const since = waiting.flatMap(({ sinceMs }) => sinceMs ?? []);
  return {
    openDeliveries: sum(waiting),
    heldDeliveries: sum(waiting.filter(({ state }) => isHeld || state === 'held')),
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
