import { describe, expect, it } from 'vitest';
import {
  STATEMENT_HEADER,
  type StatementRow,
  statementLine,
} from '../../src/domain/statement-csv.ts';

const ROW: StatementRow = {
  transactionId: 't-1',
  currency: 'EUR',
  kind: 'payout',
  amount: '12.50',
  isFreebet: false,
  confirmedAt: '2026-11-20T12:00:00.000Z',
  belongsTo: '2026-11-19',
  operation: 'settle',
};

describe('a line of a statement', () => {
  it('stands below its header, cell by cell', () => {
    expect(STATEMENT_HEADER).toBe(
      'day,belongsTo,transactionId,currency,kind,amount,freebet,confirmedAt,operation\n',
    );
    expect(statementLine('2026-11-20', ROW)).toBe(
      '2026-11-20,2026-11-19,t-1,EUR,payout,12.5,false,2026-11-20T12:00:00.000Z,settle\n',
    );
    expect(statementLine('2026-11-20', { ...ROW, isFreebet: true, amount: '-3' })).toContain(
      ',-3,true,',
    );
  });

  it.each([
    ['a,b', '"a,b"'],
    ['a"b', '"a""b"'],
    ['""', '""""""'],
    ['a\nb', '"a\nb"'],
    ['a\rb', '"a\rb"'],
    ['a b;c', 'a b;c'],
  ])('keeps somebody else’s %j in one cell', (text, cell) => {
    const line = statementLine('d', { ...ROW, transactionId: text, currency: text });
    expect(line).toBe(
      `d,2026-11-19,${cell},${cell},payout,12.5,false,2026-11-20T12:00:00.000Z,settle\n`,
    );
  });
});
