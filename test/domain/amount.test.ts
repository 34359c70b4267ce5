import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addAmounts,
  canonicalAmount,
  compareAmounts,
  isNonNegativeFinite,
  sameAmount,
  subtractAmounts,
} from '../../src/domain/amount.ts';

const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?(e-?\d+)?$/;

/** `mantissa * 10^exponent`: the meaning of the texts below, apart from their spelling. */
interface Value {
  readonly mantissa: bigint;
  readonly exponent: number;
}

const value: fc.Arbitrary<Value> = fc.record({
  mantissa: fc.oneof(fc.bigInt(-1000n, 1000n), fc.bigInt(-(2n ** 80n), 2n ** 80n)),
  exponent: fc.integer({ min: -60, max: 60 }),
});

/** A value in one of its many spellings. */
const spelled = value.chain((it) =>
  fc
    .record({
      shift: fc.integer({ min: -5, max: 45 }),
      zeros: fc.nat(3),
      mark: fc.constantFrom('e', 'E', 'e+', 'E+'),
    })
    .map(({ shift, zeros, mark }) => ({ value: it, text: spell(it, shift, zeros, mark) })),
);

/** Moves the decimal point by `shift` places, and the exponent back by as many. */
function spell({ mantissa, exponent }: Value, shift: number, zeros: number, mark: string): string {
  const digits = String(mantissa < 0n ? -mantissa : mantissa);
  const places = Math.max(0, shift);
  const trailing = mantissa === 0n ? 0 : Math.max(0, -shift);
  const padded = digits.padStart(places + 1, '0') + '0'.repeat(trailing);
  const whole = padded.slice(0, padded.length - places);
  const fraction = padded.slice(padded.length - places) + '0'.repeat(zeros);
  const power = exponent + shift;
  const tail = power === 0 ? '' : `${power < 0 ? 'e' : mark}${power}`;
  return `${mantissa < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}${tail}`;
}

/** Both values over one common exponent, as whole numbers. */
function aligned(a: Value, b: Value): [bigint, bigint, number] {
  const exponent = Math.min(a.exponent, b.exponent);
  const whole = (v: Value) => v.mantissa * 10n ** BigInt(v.exponent - exponent);
  return [whole(a), whole(b), exponent];
}

function sign(value: bigint): -1 | 0 | 1 {
  if (value === 0n) return 0;
  return value < 0n ? -1 : 1;
}

describe('comparing amounts', () => {
  it.each([
    ['12.5', '12.50', 0],
    ['100', '1E+2', 0],
    ['0', '-0.0', 0],
    ['0e999999999', '0.000', 0],
    ['9007199254740992', '9007199254740993', -1],
    ['0.1', '0.10000000000000001', -1],
    ['0.30000000000000004', '0.3', 1],
    ['10', '9', 1],
    ['-10', '-9', -1],
    ['-1', '0', -1],
    ['-1e-400', '0', -1],
    ['1e-400', '1e-399', -1],
    ['1e400', '1e399', 1],
  ] as const)('%s with %s gives %s (I9)', (a, b, expected) => {
    expect(compareAmounts(a, b)).toBe(expected);
    expect(compareAmounts(b, a)).toBe(expected === 0 ? 0 : -expected);
    expect(sameAmount(a, b)).toBe(expected === 0);
  });

  it('is by value, whatever the spelling (I9)', () => {
    fc.assert(
      fc.property(spelled, spelled, (a, b) => {
        const [left, right] = aligned(a.value, b.value);
        expect(compareAmounts(a.text, b.text)).toBe(sign(left - right));
        expect(sameAmount(a.text, b.text)).toBe(left === right);
      }),
    );
  });
});

describe('the canonical text', () => {
  it.each([
    ['12.10', '12.1'],
    ['12.00', '12'],
    ['1200', '1200'],
    ['-0.0', '0'],
    ['0.0050', '0.005'],
    ['1E+2', '100'],
    ['125e-1', '12.5'],
    ['-12.50', '-12.5'],
    ['9007199254740993', '9007199254740993'],
    ['1e400', '1e400'],
    ['12.5e-400', '1.25e-399'],
  ])('of %s is %s', (text, expected) => {
    expect(canonicalAmount(text)).toBe(expected);
  });

  it('is one for all spellings of a value, and another for another value (I9)', () => {
    fc.assert(
      fc.property(value, spelled, fc.nat(40), fc.nat(3), (one, other, shift, zeros) => {
        const text = canonicalAmount(spell(one, shift, zeros, 'E+'));
        expect(text).toBe(canonicalAmount(spell(one, 0, 0, 'e')));
        const [left, right] = aligned(one, other.value);
        expect(text === canonicalAmount(other.text)).toBe(left === right);
      }),
    );
  });

  it('is a JSON number and its own canonical text', () => {
    fc.assert(
      fc.property(spelled, ({ text }) => {
        const canonical = canonicalAmount(text);
        expect(canonical).toMatch(JSON_NUMBER);
        expect(canonicalAmount(canonical)).toBe(canonical);
      }),
    );
  });
});

describe('an amount the protocol allows', () => {
  it.each([
    '0',
    '-0',
    '-0.0',
    '-0e-5',
    '12.10',
    '1E+2',
    '1e-400',
    '1e-999999999',
    '1.7976931348623157e308',
    '9007199254740993',
  ])('may be %s', (text) => {
    expect(isNonNegativeFinite(text)).toBe(true);
  });

  it.each([
    '-1',
    '-1e-400',
    '-0.0000001',
    '1e309',
    '1e999999999',
    '',
    ' 1',
    '1 ',
    '1\n',
    '+1',
    '01',
    '1.',
    '.5',
    '1e',
    '0x10',
    '1_000',
    '1,5',
    'NaN',
    'Infinity',
    'null',
    '\u0661',
  ])('may not be %j', (text) => {
    expect(isNonNegativeFinite(text)).toBe(false);
  });

  it('is any JSON number that is finite as a double and not below 0', () => {
    const numeral = fc.oneof(
      spelled.map(({ text }) => text),
      fc.double().map(String),
    );
    fc.assert(
      fc.property(fc.oneof(numeral, fc.string()), (text) => {
        const isJsonNumber = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(text);
        const below = isJsonNumber && compareAmounts(text, '0') < 0;
        expect(isNonNegativeFinite(text)).toBe(
          isJsonNumber && !below && Number.isFinite(Number(text)),
        );
      }),
    );
  });
});

describe('adding and subtracting', () => {
  it.each([
    ['0.1', '0.2', '0.3'],
    ['9007199254740992', '1', '9007199254740993'],
    ['12.50', '-12.5', '0'],
    ['0', '1E+2', '100'],
    ['0.05', '0.95', '1'],
    ['-1', '0.25', '-0.75'],
  ])('%s and %s make %s (I9)', (a, b, total) => {
    expect(addAmounts(a, b)).toBe(total);
    expect(subtractAmounts(total, b)).toBe(canonicalAmount(a));
  });

  it('is exact', () => {
    fc.assert(
      fc.property(spelled, spelled, (a, b) => {
        const [left, right, exponent] = aligned(a.value, b.value);
        const exact = (mantissa: bigint) =>
          canonicalAmount(spell({ mantissa, exponent }, 0, 0, 'e'));
        expect(addAmounts(a.text, b.text)).toBe(exact(left + right));
        expect(subtractAmounts(a.text, b.text)).toBe(exact(left - right));
      }),
    );
  });

  it('refuses to write out what has too many places', () => {
    expect(addAmounts('1e399', '1e-400')).toMatch(/^1\.0+1e399$/);
    for (const absurd of [
      '1e400',
      '1e-401',
      '1e999999999',
      '1e-999999999',
      `0.${'1'.repeat(401)}`,
    ]) {
      expect(() => addAmounts('1', absurd), absurd).toThrow(RangeError);
      expect(() => subtractAmounts(absurd, '1'), absurd).toThrow(RangeError);
    }
  });
});
