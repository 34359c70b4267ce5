import type { Prisma } from '../schema/prisma.ts';
import { type DeliveryQuery, type HeldNow, rowsMeant } from './delivery-query.ts';

/** How many rows one statement of a count reads (some tens of milliseconds). */
const COUNTED_AT_ONCE = 20_000;

/** More that are open are not counted; an index has these by operator. */
const OPEN_MAX = 100_000;

export interface Counted {
  readonly count: number;
  /** A limit was reached: there may be more. */
  readonly isAtLeast: boolean;
}

/**
 * How many deliveries a query means. Those that are open are counted up to a bound. Of those that ended, or of all, no index
 * knows how many, so they are read piece by piece.
 * @param untilMs of `performance.now()`: reading stops then, but not before the first piece is counted
 */
export async function countDeliveries(
  prisma: Prisma,
  query: Omit<DeliveryQuery, 'cursor' | 'limit'>,
  heldNow: HeldNow,
  untilMs: number,
): Promise<Counted> {
  const where = await rowsMeant(prisma, query, heldNow);
  const { state } = query;
  if (state === 'dead' || state === 'pending' || state === 'held') {
    const count = await prisma.delivery.count({ where, take: OPEN_MAX + 1 });
    return { count: Math.min(count, OPEN_MAX), isAtLeast: count > OPEN_MAX };
  }
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
