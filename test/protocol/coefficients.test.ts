import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coefficientsKey } from '../../src/protocol/coefficients.ts';
import { parseJsonObject } from '../../src/protocol/json.ts';

function keyOf(text: string): string {
  return coefficientsKey(parseJsonObject(Buffer.from(text)));
}

function express(odds: readonly string[]): string {
  return `{"metadata":[${odds.map((odd) => `{"coefficient":${odd}}`).join(',')}]}`;
}

describe('the key of an update', () => {
  it('is readable for a common bet', () => {
    expect(
      keyOf('{"coefficient":1.20,"boosterCoefficient":1,"metadata":[{"coefficient":1.2}]}'),
    ).toBe('1.2;1;1.2');
  });

  it('is the same for the same odds, however they are spelled (I9)', () => {
    const spellings = ['1.2', '1.20', '12e-1', '0.12E+1'];
    const keys = spellings.map((odd) =>
      keyOf(`{"coefficient":${odd},"metadata":[{"event":"A","coefficient":${odd}}],"ip":"::1"}`),
    );
    expect(new Set(keys).size).toBe(1);
  });

  it('takes null for absent', () => {
    expect(keyOf('{"coefficient":null,"boosterCoefficient":null,"metadata":null}')).toBe(
      keyOf('{}'),
    );
  });

  it.each([
    ['the coefficient and the booster', '{"coefficient":2}', '{"boosterCoefficient":2}'],
    ['the coefficient and a leg', '{"coefficient":2}', '{"metadata":[{"coefficient":2}]}'],
    ['the order of legs', express(['1', '2']), express(['2', '1'])],
    ['the place of a leg', express(['1', 'null']), express(['null', '1'])],
    ['odds that are one as doubles', express(['9007199254740993']), express(['9007199254740992'])],
  ])('tells apart %s', (_, one, other) => {
    expect(keyOf(one)).not.toBe(keyOf(other));
  });

  it('stays short however many legs there are, and tells them apart', () => {
    const odds = fc.array(fc.nat(9).map(String), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(odds, odds, (some, others) => {
        const [one, other] = [keyOf(express(some)), keyOf(express(others))];
        expect(Math.max(one.length, other.length)).toBeLessThanOrEqual(64);
        expect(one === other).toBe(some.join() === others.join());
      }),
    );
  });
});
