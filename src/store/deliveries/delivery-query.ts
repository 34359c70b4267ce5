import type { DeliverableOperation } from '../../domain/operation.ts';
import { type Prisma, raw, sql } from '../schema/prisma.ts';
import { operatorsIn } from '../sql/operators-in.ts';
import type { DeliveryState } from './delivery-item.ts';

/** Rows that one statement of a count reads (some tens of milliseconds). */
const COUNTED_AT_ONCE = 20_000;

/** More open ones are not counted; an index has these by operator. */
const OPEN_MAX = 100_000;

export interface DeliveryQuery {
  readonly operator?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly operation?: DeliverableOperation | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

type HeldNow = () => Promise<(operatorId: string) => boolean>;

export interface Counted {
  readonly count: number;
  /** A limit was reached: there may be more. */
  readonly isAtLeast: boolean;
}

/** A query's rows, on all pages; whether a pending one is `held` also depends on its operator. */
export async function rowsMeant(
  prisma: Prisma,
  { operator, state, operation }: Omit<DeliveryQuery, 'cursor' | 'limit'>,
  heldNow: HeldNow,
) {
  const ofOperation = operation === undefined ? {} : { operation };
  const ofOperator = { ...ofOperation, ...(operator !== undefined && { operatorId: operator }) };
  if (state === undefined) return { ...ofOperator, state: { not: 'live' } };
  if (state !== 'held' && state !== 'pending') return { ...ofOperator, state };
  const operators = operator === undefined ? await operatorsWithPending(prisma) : [operator];
  const isHeld = await heldNow();
  const fitting = operators.filter((id) => isHeld(id) === (state === 'held'));
  const byOperator = { operatorId: { in: fitting } };
  return state === 'held'
    ? { ...ofOperator, state: 'pending', OR: [byOperator, { held: true }] }
    : { ...ofOperation, ...byOperator, state: 'pending', held: false };
}

async function operatorsWithPending(prisma: Prisma): Promise<readonly string[]> {
  const rows = await prisma.$queryRaw<{ readonly operator: string | null }[]>(sql`
    WITH RECURSIVE ${raw(operatorsIn("deliveries WHERE state = 'pending'"))}
    SELECT operator FROM owner`);
  return rows.flatMap(({ operator }) => operator ?? []);
}

/**
 * Counts open deliveries up to a bound; ended ones have no index for that, so they are read piece by piece.
 * @param untilMs of `performance.now()`: counting stops then, but not before the first piece
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
