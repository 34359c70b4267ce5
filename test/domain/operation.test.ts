import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/domain/errors.ts';
import {
  CALL_CLASSES,
  classOf,
  DELIVERABLE_OPERATIONS,
  OPERATIONS,
} from '../../src/domain/operation.ts';

describe('the operations', () => {
  it('are those of the callbacks, in two classes that do not feel each other (I7)', () => {
    expect(OPERATIONS.map((operation) => `${operation} ${classOf(operation)}`)).toEqual([
      'profile read',
      'balance read',
      'place money',
      'settle money',
      'unsettle money',
      'rollback money',
      'update money',
    ]);
    expect(CALL_CLASSES).toEqual(['read', 'money']);
  });

  it('are promised unless they are a place, which is never repeated (I5)', () => {
    expect(DELIVERABLE_OPERATIONS).toEqual(['settle', 'unsettle', 'rollback', 'update']);
  });
});

describe('an operating error', () => {
  it('has its code, its text and its cause', () => {
    const cause = new Error('refused');
    const error = new GatewayError('DATABASE_UNAVAILABLE', 'PostgreSQL: refused', { cause });
    expect(error).toMatchObject({
      name: 'GatewayError',
      code: 'DATABASE_UNAVAILABLE',
      message: 'PostgreSQL: refused',
      cause,
    });
  });
});
