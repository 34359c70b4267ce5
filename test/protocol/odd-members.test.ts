import { describe, expect, it } from 'vitest';
import { bet, fieldOf, message } from './support/bet-messages.ts';

const ODD: Readonly<Record<string, readonly string[]>> = {
  userId: ['null', '1999', '""', `"${'x'.repeat(65)}"`, '"a\\u0000"', '"\\ud83d"'],
  amount: ['null', '"12.10"', '-1', '-1e-400', '1e400', 'true', '[1]', '{}'],
  currency: ['7', '""', '"US"', '"USDTTT"', '"US\\u0000"', '"US\\ud83d"'],
  token: ['7', '{}', '"\\u0000"', '"\\ud83d"'],
  requestId: ['7', '{}', 'false'],
  cid: ['7', '[]'],
  transactionTime: ['7', '{}'],
  coefficient: ['"1.2"', '-1.2', '1e999', 'false'],
  boosterCoefficient: ['"1"', '-1', '[]'],
  bonusAmount: ['"5"', '-5', '{}'],
  metadata: ['{}', '"x"', '1'],
  errorCode: ['"50"', '1.5', '[]'],
};

describe.each(['rollback', 'update'] as const)('a %s', (operation) => {
  it('is read without an odd member, which is to be left out', () => {
    for (const [name, values] of Object.entries(ODD)) {
      for (const raw of values) {
        const read = message(bet(operation, { [name]: raw }));
        expect([name, raw, read]).toMatchObject([name, raw, { repairs: { [name]: undefined } }]);
        expect(read).toHaveProperty('repairs', { [name]: undefined });
        if (name in read) expect(read).toHaveProperty(name, undefined);
      }
    }
  });

  it('has nothing to repair where a member is missing, null as the service writes none, or unknown', () => {
    const fine = { coefficient: 'null', metadata: 'null', requestId: 'null', other: '{"a":[1]}' };
    expect(message(bet(operation, fine))).toHaveProperty('repairs', {});
    const bare = { userId: undefined, amount: undefined, currency: undefined };
    expect(message(bet(operation, bare))).toHaveProperty('repairs', {});
  });

  it('keeps of its outcomes what is proper, with the exact text of the numbers', () => {
    const metadata =
      '[null, {"a":1.0,"coefficient":1e999}, {"coefficient":"1"}, {"coefficient":1.50}]';
    expect(message(bet(operation, { metadata }))).toHaveProperty('repairs', {
      metadata: '[{"a":1.0},{},{"coefficient":1.50}]',
    });
  });

  it('is refused without its transactionId', () => {
    for (const transactionId of [undefined, 'null', '1', '""', '"\\u0000"', '"\\udc00"']) {
      expect(fieldOf(bet(operation, { transactionId }))).toBe('transactionId');
    }
  });
});

it('an update with odd odds is the same as one without them', () => {
  const key = (members: Readonly<Record<string, string | undefined>>) => {
    const read = message(bet('update', members));
    return read.operation === 'update' ? read.coefficientsKey : undefined;
  };
  for (const coefficient of ['"x"', '-1', '1e999', 'null']) {
    expect(key({ coefficient })).toBe(key({ coefficient: undefined }));
  }
  expect(key({ metadata: '[5,{"coefficient":"x"},{"coefficient":2.0}]' })).toBe(
    key({ metadata: '[{},{"coefficient":2}]' }),
  );
});
