import { DELIVERY_LIFE, DELIVERY_PURPOSES, type DeliveryPurpose } from '../../domain/delivery.ts';
import { DELIVERABLE_OPERATIONS, type DeliverableOperation } from '../../domain/operation.ts';
import type { Prisma } from '../schema/prisma.ts';

/** `held`: pending, but the operator takes none now, or the bet has another `wallet.generation`. */
export const DELIVERY_STATES = [
  'pending',
  'held',
  'delivered',
  'refused',
  'superseded',
  'dead',
  'resolved',
] as const;

export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface DeliveryItem {
  readonly id: string;
  readonly operator: string;
  readonly operation: DeliverableOperation;
  readonly transactionId: string;
  readonly state: DeliveryState;
  /** `confirm`: a wallet has confirmed it already, and it is sent once more by design. */
  readonly purpose: DeliveryPurpose;
  readonly attempts: number;
  readonly lastError: string | null;
  /** ISO 8601 UTC; null if no further attempt is planned. */
  readonly nextAttemptAt: string | null;
  readonly createdAt: string;
}

export type DeliveryRecord = NonNullable<Awaited<ReturnType<Prisma['delivery']['findFirst']>>>;

/** @throws Error for a state that this release does not know */
export function deliveryStateOf(
  row: DeliveryRecord,
  isHeld: (operatorId: string) => boolean,
): DeliveryState {
  const state = known(DELIVERY_LIFE, row.state);
  if (state === 'live') return 'pending';
  if (state !== 'pending') return state;
  return isHeldRow(row, isHeld) ? 'held' : 'pending';
}

/** Whether a pending delivery waits for its operator, or for its bet's release to another wallet. */
export function isHeldRow(
  row: Pick<DeliveryRecord, 'held' | 'operatorId'>,
  isHeld: (operatorId: string) => boolean,
): boolean {
  return row.held || isHeld(row.operatorId);
}

export function deliveryItemOf(
  row: DeliveryRecord,
  isHeld: (operatorId: string) => boolean,
): DeliveryItem {
  return {
    id: String(row.id),
    operator: row.operatorId,
    operation: known(DELIVERABLE_OPERATIONS, row.operation),
    transactionId: row.transactionId,
    state: deliveryStateOf(row, isHeld),
    purpose: known(DELIVERY_PURPOSES, row.purpose),
    attempts: row.attempts,
    lastError: row.lastError,
    nextAttemptAt: row.state === 'pending' ? row.nextAttemptAt.toISOString() : null,
    createdAt: row.createdAt.toISOString(),
  };
}

/** @throws Error for a value of a newer schema, which must not be acted on */
function known<const T extends string>(values: readonly T[], value: string): T {
  const found = values.find((one) => one === value);
  if (found === undefined) throw new Error(`no such value here: ${value}`);
  return found;
}
