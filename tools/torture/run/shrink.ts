import { type Plan, partsOf, prune } from '../plan/plan.ts';
import type { Verdict } from '../play/verdict.ts';

export interface Shrinking {
  /** Plays a smaller plan. */
  readonly play: (plan: Plan) => Promise<Verdict>;
  /** How often a plan must pass before it counts as passing: a race does not show every time. */
  readonly tries: number;
  readonly isOver: () => boolean;
}

/**
 * Removes from a failing plan what the failure does not need, coarse parts first, until nothing more can go or the
 * time is up.
 * @returns the smallest failing verdict that was seen
 */
export async function shrink(failing: Verdict, shrinking: Shrinking): Promise<Verdict> {
  const kinds = new Set(failing.findings.map(({ kind }) => kind));
  const fails = async (plan: Plan): Promise<Verdict | undefined> => {
    for (let n = 0; n < shrinking.tries && !shrinking.isOver(); n += 1) {
      const verdict = await shrinking.play(plan);
      if (verdict.findings.some(({ kind }) => kinds.has(kind))) return verdict;
    }
    return undefined;
  };
  // Nearly always a single bet is enough.
  let smallest = failing;
  const alone = await fails(onlyFailing(failing));
  if (alone !== undefined) smallest = alone;
  let kept = partsOf(smallest.plan);
  for (let size = Math.ceil(kept.length / 2); size >= 1 && !shrinking.isOver(); ) {
    const without = await firstOf(chunksOf(kept, size), async (chunk) => {
      const rest = new Set(kept.filter((part) => !chunk.includes(part)));
      const plan = prune(smallest.plan, rest);
      return plan.bets.length === 0 ? undefined : await fails(plan);
    });
    if (without === undefined) {
      size = size === 1 ? 0 : Math.ceil(size / 2);
      continue;
    }
    smallest = without;
    kept = partsOf(smallest.plan);
    size = Math.min(size, Math.ceil(kept.length / 2));
  }
  return smallest;
}

/** The first bet with a finding, and the faults. */
function onlyFailing({ plan, findings }: Verdict): Plan {
  const bets = new Set(findings.flatMap(({ bet }) => (bet === undefined ? [] : [bet])));
  const [first] = bets;
  const kept = partsOf(plan).filter(
    (part) => !part.startsWith('b') || part.split('.')[0] === first || first === undefined,
  );
  return prune(plan, new Set(kept));
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < items.length; at += size) chunks.push(items.slice(at, at + size));
  return chunks;
}

async function firstOf<T, R>(
  items: readonly T[],
  attempt: (item: T) => Promise<R | undefined>,
): Promise<R | undefined> {
  for (const item of items) {
    const result = await attempt(item);
    if (result !== undefined) return result;
  }
  return undefined;
}
