import type { Prisma } from '../schema/prisma.ts';
import type { DeliveryState } from './delivery-item.ts';
import { type DeliveryQuery, type HeldNow, rowsMeant } from './delivery-query.ts';
import { openPieces } from './open-count.ts';

/** How many rows one statement of a count reads (some tens of milliseconds). */
const COUNTED_AT_ONCE = 20_000;

/** Not ended: an index has these by operator. */
type OpenState = Extract<DeliveryState, 'dead' | 'pending' | 'held'>;

export interface Counted {
  readonly count: number;
  /** The time limit was reached: there may be more. */
  readonly isAtLeast: boolean;
}

/**
 * How many deliveries a query means, counted piece by piece: a few tens of millions exceed the
 * statement timeout, and anybody's patience.
 * @param untilMs of `performance.now()`: counting stops then, but not before the first piece is counted
 */
export async function countDeliveries(
  prisma: Prisma,
  query: Omit<DeliveryQuery, 'cursor' | 'limit'>,
  heldNow: HeldNow,
  untilMs: number,
): Promise<Counted> {
  const { state } = query;
  return state === 'dead' || state === 'pending' || state === 'held'
    ? await countOpen(prisma, { ...query, state }, heldNow, untilMs)
    : await countAll(prisma, query, heldNow, untilMs);
}

async function countOpen(
  prisma: Prisma,
  { operator, operation, state }: DeliveryQuery & { readonly state: OpenState },
  heldNow: HeldNow,
  untilMs: number,
): Promise<Counted> {
  const isHeld = await heldNow();
  const fitting = (of: { operator: string; held: number; free: number }) => {
    if (state === 'dead' || (state === 'held' && isHeld(of.operator))) return of.held + of.free;
    if (state === 'held') return of.held;
    return isHeld(of.operator) ? 0 : of.free;
  };
  const walked = state === 'dead' ? 'dead' : 'pending';
  const walk = { state: walked, operator, operation, atOnce: COUNTED_AT_ONCE } as const;
  let count = 0;
  for await (const { rows, isLast } of openPieces(prisma, walk)) {
    count += rows.reduce((sum, row) => sum + fitting(row), 0);
    if (!isLast && performance.now() >= untilMs) return { count, isAtLeast: true };
  }
  return { count, isAtLeast: false };
}

/** Of those that ended, or of all: no index knows how many, so that all of them are read. */
async function countAll(
  prisma: Prisma,
  query: DeliveryQuery,
  heldNow: HeldNow,
  untilMs: number,
): Promise<Counted> {
  const where = await rowsMeant(prisma, query, heldNow);
  let count = 0;
  for (let after = 0n; ; ) {
    const last = await prisma.delivery.findFirst({
      where: { id: { gt: after } },
      select: { id: true },
      orderBy: { id: 'asc' },
      skip: COUNTED_AT_ONCE - 1,
    });
    const id = { gt: after, ...(last !== null && { lte: last.id }) };
    count += await prisma.delivery.count({ where: { AND: [where, { id }] } });
    if (last === null) return { count, isAtLeast: false };
    if (performance.now() >= untilMs) return { count, isAtLeast: true };
    after = last.id;
  }
}
