import { describe, expect, it } from 'vitest';
import { moneyOf, moneyText } from '../../../tools/torture/money.ts';

describe('the money of the torture test', () => {
  it.each(['0', '12.1', '0.00000001', '9007199254740993.01'])('keeps %s exactly', (text) => {
    expect(moneyText(moneyOf(text))).toBe(text);
  });

  it('takes trailing zeros for what they are', () => {
    expect(moneyOf('12.10')).toBe(moneyOf('12.1'));
    expect(moneyText(moneyOf('1') - moneyOf('2.5'))).toBe('-1.5');
  });

  it.each(['', '-1', '1e3', '0.000000001', 'NaN'])('refuses %j', (text) => {
    expect(() => moneyOf(text)).toThrow(RangeError);
  });
});
