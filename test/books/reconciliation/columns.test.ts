import { describe, expect, it } from 'vitest';
import { missingColumns } from '../../../src/books/reconciliation/columns.ts';

const HEADER = ['id', ' win ', 'currency'];

describe('a column that cannot be found', () => {
  it('is named, and none that is there', () => {
    const names = new Map([
      ['transactionId', 'id'],
      ['payout', 'win'],
      ['stake', 'amount'],
    ] as const);
    const { message } = missingColumns(HEADER, names);
    expect(message).toMatch(/^the list has no column "amount": its first line is "id", /);
  });

  it('is the one of transactionIds where all that were named are there', () => {
    const { message } = missingColumns(HEADER, new Map([['payout', 'win']] as const));
    expect(message).toMatch(/^the list has no column "transactionId": /);
  });
});
