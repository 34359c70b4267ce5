import { describe, expect, it } from 'vitest';
import { moneyOf } from '../../../tools/torture/money.ts';
import { CHARACTERS, type OperatorId } from '../../../tools/torture/plan/plan.ts';
import { Ledger, type WalletCall } from '../../../tools/torture/world/ledger.ts';

const PLACE: WalletCall = {
  operation: 'place',
  transactionId: 't',
  requestId: 'r0',
  user: 'u',
  amount: '10.50',
  currency: 'USD',
  token: 'token',
  resultType: undefined,
  coefficient: '1.2',
};

function walletOf(operator: OperatorId) {
  const ledger = new Ledger(CHARACTERS[operator]);
  ledger.addPlayer('u', 'token', '100');
  const book = (more: Partial<WalletCall>) => ledger.book({ ...PLACE, ...more });
  const settle = (amount: string, requestId: string) =>
    book({ operation: 'settle', amount, requestId, resultType: 'won' });
  return { ledger, book, settle, has: (text: string) => ledger.balance('u') === moneyOf(text) };
}

describe('a wallet that knows a repeat by the bet', () => {
  it('pays a result once, takes it back for another one, and answers repeats as before', () => {
    const { book, settle, has } = walletOf('alpha');
    book({});
    const first = settle('20', 'r1');
    expect(settle('20.00', 'r2')).toEqual(first);
    expect(has('109.5')).toBe(true);
    settle('50', 'r3');
    expect(has('139.5')).toBe(true);
    book({ operation: 'unsettle', requestId: 'r4' });
    expect(has('89.5')).toBe(true);
    settle('50', 'r5');
    book({ operation: 'rollback', requestId: 'r6' });
    book({ operation: 'rollback', requestId: 'r7' });
    expect(has('100')).toBe(true);
  });

  it('refuses the place of a bet that was rolled back before, where it remembers', () => {
    const { book, has } = walletOf('alpha');
    book({ operation: 'rollback' });
    expect(book({})).toMatchObject({ ok: false, code: 8 });
    expect(has('100')).toBe(true);
  });

  it('debits the place of a bet that was rolled back before, where it does not', () => {
    const { book, has } = walletOf('beta');
    book({ operation: 'rollback' });
    book({});
    expect(has('89.5')).toBe(true);
  });
});

describe('a wallet that keys on requestId', () => {
  it('pays the same result under another requestId again', () => {
    const { book, settle, has } = walletOf('gamma');
    book({});
    settle('20', 'r1');
    settle('20', 'r1');
    expect(has('109.5')).toBe(true);
    settle('20', 'r2');
    expect(has('129.5')).toBe(true);
  });

  it('takes back all of it for another result', () => {
    const { book, settle, has } = walletOf('gamma');
    book({});
    settle('20', 'r1');
    settle('30', 'r2');
    expect(has('119.5')).toBe(true);
  });
});

describe('a wallet that pays repeats again', () => {
  it('pays a repeated result twice, and takes it back twice', () => {
    const { book, settle, has } = walletOf('eta');
    book({});
    settle('20', 'r1');
    settle('20', 'r2');
    expect(has('129.5')).toBe(true);
    settle('30', 'r3');
    expect(has('119.5')).toBe(true);
    book({ operation: 'unsettle', requestId: 'r4' });
    expect(has('89.5')).toBe(true);
    book({ operation: 'unsettle', requestId: 'r5' });
    expect(has('59.5')).toBe(true);
  });
});

describe('a wallet with a language of its own', () => {
  it('wants a token on every call, and has nothing to roll back twice', () => {
    const { book, has } = walletOf('epsilon');
    expect(book({ operation: 'rollback' })).toMatchObject({ ok: false, code: 5 });
    book({});
    expect(book({ operation: 'unsettle', token: undefined })).toMatchObject({ code: 3 });
    expect(book({ operation: 'rollback' })).toMatchObject({ ok: true });
    expect(book({ operation: 'rollback' })).toMatchObject({ ok: false, code: 5 });
    expect(has('100')).toBe(true);
  });
});

describe('a bet that comes past the gateway', () => {
  it('moved its money there, and is corrected like any other', () => {
    const { ledger, settle, has } = walletOf('alpha');
    ledger.open('t', 'u', '10.50', '30');
    expect(has('119.5')).toBe(true);
    settle('50', 'r1');
    expect(has('139.5')).toBe(true);
  });
});
