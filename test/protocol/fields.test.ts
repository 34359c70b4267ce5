import { describe, expect, it } from 'vitest';
import { bet, fieldOf, message, OPERATIONS } from './support/bet-messages.ts';

const STRICT = ['place', 'settle', 'unsettle'] as const;

describe('the members of every bet message', () => {
  it.each(STRICT)('%s: refuses what is wrong and names it', (operation) => {
    const wrong: Record<string, (string | undefined)[]> = {
      transactionId: [
        undefined,
        'null',
        '1',
        '""',
        `"${'x'.repeat(65)}"`,
        '"\\u0000"',
        '"\\udc00"',
      ],
      userId: [undefined, 'null', '1999', '""', `"${'x'.repeat(65)}"`, '"a\\u0000"', '"\\ud83d"'],
      amount: ['null', '"12.10"', '-1', '-0.01', '-1e-400', '1e400', 'true', '[1]', '{}'],
      currency: ['7', '""', '"US"', '"USDTTT"', '"US\\u0000"', '"US\\ud83d"'],
      token: ['7', '{}', '"\\u0000"', '"\\ud83d"'],
      requestId: ['7', '{}', 'false'],
      coefficient: ['"1.2"', '-1.2', '1e999', 'false'],
      boosterCoefficient: ['"1"', '-1', '[]'],
      bonusAmount: ['"5"', '-5', '{}'],
      metadata: ['{}', '"x"', '1'],
    };
    for (const [name, values] of Object.entries(wrong)) {
      for (const raw of values) {
        expect([name, raw, fieldOf(bet(operation, { [name]: raw }))]).toEqual([name, raw, name]);
      }
    }
  });

  it.each(OPERATIONS)('%s: accepts what is unusual but valid', (operation) => {
    const right: Record<string, string[]> = {
      transactionId: ['"x"', `"${'x'.repeat(64)}"`, '"transaction 7/\u{1F3B2}"'],
      userId: ['"1"', `"${'x'.repeat(64)}"`, '"\u00e9"'],
      amount: [
        '0',
        '-0.0',
        '12.10',
        '1E+2',
        '1e-400',
        '9007199254740993',
        '1.7976931348623157e308',
      ],
      currency: ['"XBT"', '"USDTT"'],
      requestId: ['null', '"x"'],
      coefficient: ['null', '0', '1.20'],
      boosterCoefficient: ['null', '1'],
      bonusAmount: ['null', '0', '5.00'],
      metadata: ['null', '[]', '[{}]', '[{"eventDate":"2021-03-05 11:08:00","coefficient":null}]'],
      subPartnerId: ['null', '""', '"alpha"'],
      unknown: ['{"a":[1,null]}'],
    };
    for (const [name, values] of Object.entries(right)) {
      for (const raw of values) message(bet(operation, { [name]: raw }));
    }
  });

  it('keeps amounts as they are spelled (I9)', () => {
    for (const operation of OPERATIONS) {
      for (const amount of ['12.10', '1E+2', '9007199254740993', '-0.0', '0.30000000000000004']) {
        expect(message(bet(operation, { amount })).amount).toBe(amount);
      }
    }
  });

  it.each([
    ['[{},7]', 'metadata.1'],
    ['[null]', 'metadata.0'],
    ['[[]]', 'metadata.0'],
    ['[{"coefficient":1},{"coefficient":"1.2"}]', 'metadata.1.coefficient'],
    ['[{"coefficient":1e999}]', 'metadata.0.coefficient'],
    ['[{"coefficient":{}}]', 'metadata.0.coefficient'],
  ])('names what is wrong inside metadata: %s', (metadata, field) => {
    expect(fieldOf(bet('place', { metadata }))).toBe(field);
    expect(fieldOf(bet('settle', { metadata }))).toBe(field);
  });

  it('says in words what a member must be', () => {
    expect(bet('place', { amount: '-1' })).toEqual({
      ok: false,
      field: 'amount',
      why: 'must be a number of 0 or more',
    });
  });

  it('has a request id only if it can be put in a header', () => {
    expect(message(bet('place', { requestId: '"d9195aef 9492"' })).requestId).toBe('d9195aef 9492');
    for (const odd of ['""', '"a\\r\\nb"', '"\\u0000"', '"\u00e9"', `"${'x'.repeat(257)}"`]) {
      expect(message(bet('place', { requestId: odd })).requestId).toBeUndefined();
    }
  });
});
