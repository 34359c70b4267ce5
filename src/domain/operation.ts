/** The operations of the service's callbacks (service protocol, Callbacks; docs/reference.md, Metrics). */
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

/** Operations that the gateway may promise and deliver later. */
export const DELIVERABLE_OPERATIONS = ['settle', 'unsettle', 'rollback', 'update'] as const;

export type DeliverableOperation = (typeof DELIVERABLE_OPERATIONS)[number];

/** Operations with a `transactionId`, which belong to a bet. */
export const BET_OPERATIONS = ['place', ...DELIVERABLE_OPERATIONS] as const;

export type BetOperation = (typeof BET_OPERATIONS)[number];

type ResultOperation = Extract<BetOperation, 'settle' | 'unsettle'>;

/** Whether an operation sets a bet's result: a later one replaces it. */
export function isResult(operation: Operation): operation is ResultOperation {
  return operation === 'settle' || operation === 'unsettle';
}

/** Bulkheads and breakers keep profile and balance apart from bet calls (docs/reference.md, Configuration). */
export type CallClass = 'read' | 'money';

export const CALL_CLASSES: readonly CallClass[] = ['read', 'money'];

export function classOf(operation: Operation): CallClass {
  return operation === 'profile' || operation === 'balance' ? 'read' : 'money';
}
