/**
 * The operations of the service's callbacks (service protocol, Callbacks; docs/reference.md,
 * Metrics).
 */
export const OPERATIONS = [
  'profile',
  'balance',
  'place',
  'settle',
  'unsettle',
  'rollback',
  'update',
] as const;

export type Operation = (typeof OPERATIONS)[number];

/** Operations that the gateway may accept as deliveries. */
export const DELIVERABLE_OPERATIONS = ['settle', 'unsettle', 'rollback', 'update'] as const;

export type DeliverableOperation = (typeof DELIVERABLE_OPERATIONS)[number];

/** Operations that carry a `transactionId` and belong to a bet. */
export const BET_OPERATIONS = ['place', ...DELIVERABLE_OPERATIONS] as const;

export type BetOperation = (typeof BET_OPERATIONS)[number];

/** Operations that say what a bet has come to. */
type ResultOperation = Extract<BetOperation, 'settle' | 'unsettle'>;

/** Whether an operation says what a bet has come to: a later one replaces it. */
export function isResult(operation: Operation): operation is ResultOperation {
  return operation === 'settle' || operation === 'unsettle';
}

/**
 * Bulkheads and breakers keep profile and balance apart from bet calls (docs/reference.md,
 * Configuration).
 */
export type CallClass = 'read' | 'money';

export const CALL_CLASSES: readonly CallClass[] = ['read', 'money'];

/** The class whose bulkhead and breaker an operation passes through. */
export function classOf(operation: Operation): CallClass {
  return operation === 'profile' || operation === 'balance' ? 'read' : 'money';
}
