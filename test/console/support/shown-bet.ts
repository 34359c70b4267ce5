import type { ShownAttempt, ShownBet, ShownOperation } from '../../../src/console/pages/bet/bet.ts';

/** A time of the made-up day, as the API gives it. */
export const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

export function attempt(fields: Partial<ShownAttempt> = {}): ShownAttempt {
  return {
    number: 1,
    startedAt: at(0),
    latencyMs: 20,
    result: 'accepted',
    status: 200,
    code: null,
    error: null,
    answer: null,
    ...fields,
  };
}

export function operation(fields: Partial<ShownOperation> = {}): ShownOperation {
  return {
    operation: 'place',
    askedBy: 'service',
    requestId: 'r-1',
    receivedAt: at(0),
    answer: { status: 200, body: '{}' },
    delivery: null,
    attempts: [attempt()],
    request: '{"amount":12.10}',
    ...fields,
  };
}

export function bet(fields: Partial<ShownBet> = {}): ShownBet {
  return {
    transactionId: 't-1',
    operator: 'alpha',
    operatorUser: 'anna',
    userId: 'u-1',
    state: 'accepted',
    amount: '12.10',
    currency: 'USD',
    bonusId: null,
    bonusTemplateId: null,
    bonusAmount: null,
    place: 'accepted',
    settlement: { state: 'none', amount: null, resultType: null },
    rollback: 'none',
    inFlight: null,
    createdAt: at(0),
    operations: [operation()],
    ...fields,
  };
}
