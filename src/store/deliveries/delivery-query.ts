import type { DeliverableOperation } from '../../domain/operation.ts';
import { type Prisma, raw, sql } from '../schema/prisma.ts';
import { operatorsIn } from '../sql/operators-in.ts';
import type { DeliveryState } from './delivery-item.ts';

export interface DeliveryQuery {
  readonly operator?: string | undefined;
  readonly state?: DeliveryState | undefined;
  readonly operation?: DeliverableOperation | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}

/** Reads who takes no deliveries now. */
export type HeldNow = () => Promise<(operatorId: string) => boolean>;

/** The rows that a query means, on all pages; whether a pending one is `held` depends on its operator too. */
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
