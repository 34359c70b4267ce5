import type { Operation } from '../../../src/domain/operation.ts';

/** The calls to which a rule or gate applies. */
export interface Scope {
  readonly operation: Operation | 'any';
  readonly transactionId: string | undefined;
}

/** The properties of a call that decide this. */
export interface Subject {
  readonly operation: Operation;
  readonly transactionId?: string;
}

export function matches(scope: Scope, subject: Subject): boolean {
  const operation = scope.operation === 'any' || scope.operation === subject.operation;
  const bet = scope.transactionId === undefined || scope.transactionId === subject.transactionId;
  return operation && bet;
}
