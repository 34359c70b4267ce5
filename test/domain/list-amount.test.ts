import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalAmount, sameAmount } from '../../src/domain/amount.ts';
import { readListAmount } from '../../src/domain/list-amount.ts';

describe('an amount of a list (I9)', () => {
  it.each([
    ['10', '10'],
    ['10.50', '10.5'],
    ['0.1', '0.1'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['007.50', '7.5'],
    ['+3', '3'],
    [' 12.10 ', '12.1'],
    ['1,234.56', '1234.56'],
    ['1,234,567', '1234567'],
    ['1.234,56', '1234.56'],
    ['1.234.567', '1234567'],
    ['12,5', '12.5'],
    ['12,50', '12.5'],
    ['0,125', '0.125'],
    ['1234,5678', '1234.5678'],
    ['1E+06', '1000000'],
    ['2.5e-3', '0.0025'],
    ['9007199254740993.01', '9007199254740993.01'],
  ])('reads %j as %s', (cell, amount) => {
    const read = readListAmount(cell);
    expect(read.fault).toBeUndefined();
    expect(canonicalAmount(read.amount ?? '')).toBe(amount);
  });

  it.each([
    '',
    ' ',
    '.',
    '1,234',
    '999,000',
    '-1',
    '- 1',
    '1-',
    '(1)',
    '1 234',
    '10 USD',
    '€10',
    'NaN',
    'Infinity',
    '0x10',
    '1e999',
    '1,23,456.7',
    '1,234.567,8',
    '12,34,5',
    '１２',
    `1${'0'.repeat(31)}`,
    '1.2.3',
  ])('refuses %j in words', (cell) => {
    const read = readListAmount(cell);
    expect(read.amount).toBeUndefined();
    expect(read.fault).toMatch(/./);
  });

  it.each([
    ['10', '10'],
    ['120', '120'],
    ['0.25', '0.25'],
    ['00.50', '0.50'],
    ['007E2', '7E2'],
    ['1E6', '1E6'],
    ['0E1', '0E1'],
    ['00,5', '0.5'],
  ])('keeps %j as %s, to the letter', (cell, amount) => {
    expect(readListAmount(cell)).toEqual({ amount });
  });

  it('is the same however a country writes it', () => {
    const whole = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(whole, fc.integer({ min: 0, max: 99 }), (units, cents) => {
        const fraction = String(cents).padStart(2, '0');
        const grouped = (mark: string) => String(units).replaceAll(/\B(?=(\d{3})+$)/g, mark);
        const amount = `${units}.${fraction}`;
        for (const written of [
          amount,
          `${units},${fraction}`,
          `${grouped(',')}.${fraction}`,
          `${grouped('.')},${fraction}`,
        ]) {
          expect(sameAmount(readListAmount(written).amount ?? 'none', amount)).toBe(true);
        }
      }),
    );
  });

  it('is an amount or a fault for any text, and an amount that everything here can compare', () => {
    const text = fc.string({ unit: fc.constantFrom(...'0159.,-+eE \t"€x') });
    fc.assert(
      fc.property(text, (cell) => {
        const { amount, fault } = readListAmount(cell);
        expect((amount === undefined) !== (fault === undefined)).toBe(true);
        if (amount !== undefined) expect(sameAmount(amount, canonicalAmount(amount))).toBe(true);
      }),
    );
  });
});
