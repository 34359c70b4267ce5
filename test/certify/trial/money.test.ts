import { expect, it } from 'vitest';
import {
  amountIn,
  hasNoCents,
  inCoins,
  isDust,
  mayHavePaid,
  stakes,
} from '../../../src/certify/trial/money.ts';
import { parseJsonObject } from '../../../src/protocol/json.ts';

it.each([
  ['{"amount":12.10}', '12.10'],
  ['{"amount":"12.10"}', '12.10'],
  // Overdrawn, as after the rollback of a payout that was spent.
  ['{"amount":-1.5}', '-1.5'],
  ['{"amount":"-1.5"}', '-1.5'],
  ['{"amount":1e999}', undefined],
  ['{"amount":"a lot"}', undefined],
  ['{"amount":null}', undefined],
  ['{}', undefined],
])('the amount in %s is %s, to the letter (I9)', (body, amount) => {
  const document = parseJsonObject(Buffer.from(body));
  expect(amountIn({ kind: 'accepted', document })).toBe(amount);
});

it('is not found in an answer without one', () => {
  expect(amountIn({ kind: 'accepted', document: undefined })).toBeUndefined();
  expect(amountIn({ kind: 'refused', code: 3 })).toBeUndefined();
  expect(amountIn({ kind: 'none' })).toBeUndefined();
});

it.each([
  ['USD', '0.0049', '0.005'],
  ['JPY', '0.49', '0.5'],
  ['KWD', '0.00049', '0.0005'],
  // An unknown currency: a single unit may be worth a house.
  ['XBT', '0.000000009', '0.00000001'],
])('less than half of the smallest coin is dust, of %s %s and not %s', (currency, dust, money) => {
  for (const sign of ['', '-']) {
    expect(isDust(`${sign}${dust}`, currency)).toBe(true);
    expect(isDust(`${sign}${money}`, currency)).toBe(false);
  }
});

it('knows currencies without a coin below 1', () => {
  expect(['JPY', 'USD', 'XBT'].map(hasNoCents)).toEqual([true, false, false]);
});

it('may have been paid unless it was refused, even with a system error', () => {
  expect(mayHavePaid({ kind: 'none' })).toBe(true);
  expect(mayHavePaid({ kind: 'refused', code: 100 })).toBe(true);
  expect(mayHavePaid({ kind: 'refused', code: 5 })).toBe(false);
});

it('moves as many stakes as there are bets', () => {
  expect(stakes(3, '0.1')).toBe('-0.3');
});

it.each([
  ['-250', '-2.5', '100 times'],
  ['1000', '1', '1000 times'],
  ['-2.5', '-2.5', ''],
  ['100', '0', ''],
  ['100', '-1', ''],
])('what moved by %s and not by %s was counted in coins: %s', (seen, wanted, told) => {
  const text = inCoins(seen, wanted);
  expect(text === '' ? text : text.slice(2, 2 + told.length)).toBe(told);
});
