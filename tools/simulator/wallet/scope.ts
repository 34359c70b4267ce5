import type { Operation } from '../../../src/domain/operation.ts';

/** Which calls something is meant for. */
export interface Scope {
  readonly operation: Operation | 'any';
  readonly transactionId: string | undefined;
}

/** What of a call decides that. */
export interface Subject {
  readonly operation: Operation;
  readonly transactionId?: string;
}

export function matches(scope: Scope, subject: Subject): boolean {
  const operation = scope.operation === 'any' || scope.operation === subject.operation;
  const bet = scope.transactionId === undefined || scope.transactionId === subject.transactionId;
  return operation && bet;
}
