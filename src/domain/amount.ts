/**
 * Money is decimal text, never a double (I9). Every function takes a JSON number's text (RFC 8259: `12.10`, `1E+2`).
 * @throws RangeError for any other text, except from `isNonNegativeFinite`
 */

/** The value is `0.<digits> * 10^point`, negative or not. Zero has no digits. */
interface Decimal {
  readonly negative: boolean;
  /** Without leading or trailing zeros. */
  readonly digits: string;
  readonly point: number;
}

const ZERO: Decimal = { negative: false, digits: '', point: 0 };

const JSON_NUMBER = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$/;

/** Cut here to stay exact integers: beyond this, a double is infinite or 0, and no currency has such an amount. */
const EXPONENT_MAX = 1e15;

/** A canonical text with more places than this gets an exponent. */
const PLAIN_PLACES_MAX = 40;

/** Sums are written out, so a sender must not choose the number of places. */
const SUM_PLACES_MAX = 400;

/** One text per value: `12.50`, `12.5` and `125e-1` give `12.5`. */
export function canonicalAmount(text: string): string {
  return format(decimalOf(text));
}

/** Whether both texts are the same amount: `12.5` and `12.50` are. */
export function sameAmount(a: string, b: string): boolean {
  return a === b || compareAmounts(a, b) === 0;
}

/** -1, 0 or 1, as `a` is less than, equal to or greater than `b`. */
export function compareAmounts(a: string, b: string): -1 | 0 | 1 {
  const left = decimalOf(a);
  const right = decimalOf(b);
  if (left.negative !== right.negative) return left.negative ? -1 : 1;
  const magnitude = compareMagnitudes(left, right);
  if (magnitude === 0) return 0;
  return magnitude < 0 === left.negative ? 1 : -1;
}

/**
 * Whether a text is a JSON number of 0 or more that a double can hold (docs/reference.md, Callbacks, code 5). The text
 * decides the sign: `-0.0` is 0, and `-1e-400` is negative.
 */
export function isNonNegativeFinite(text: string): boolean {
  const decimal = parse(text);
  return decimal !== undefined && !decimal.negative && Number.isFinite(Number(text));
}

/** The exact sum, canonical. @throws RangeError also for more than 400 places before or after a point */
export function addAmounts(a: string, b: string): string {
  return sum(decimalOf(a), decimalOf(b));
}

/** The exact difference `a - b`, canonical. @throws RangeError also for more than 400 places before or after a point */
export function subtractAmounts(a: string, b: string): string {
  const right = decimalOf(b);
  return sum(decimalOf(a), { ...right, negative: !right.negative });
}

function decimalOf(text: string): Decimal {
  const decimal = parse(text);
  if (decimal === undefined) throw new RangeError(`not a number: ${text.slice(0, 40)}`);
  return decimal;
}

function parse(text: string): Decimal | undefined {
  const match = JSON_NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponentText = '0'] = match;
  const digits = whole + fraction;
  const first = firstSignificant(digits);
  if (first === digits.length) return ZERO;
  const exponent = Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, Number(exponentText)));
  return {
    negative: sign === '-',
    digits: digits.slice(first, behindLastSignificant(digits)),
    point: exponent + whole.length - first,
  };
}

function firstSignificant(digits: string): number {
  let at = 0;
  while (at < digits.length && digits[at] === '0') at += 1;
  return at;
}

/** Not `/0+$/`: that takes quadratic time on a long run of zeros that is not at the end. */
function behindLastSignificant(digits: string): number {
  let at = digits.length;
  while (at > 0 && digits[at - 1] === '0') at -= 1;
  return at;
}

function compareMagnitudes(a: Decimal, b: Decimal): number {
  if (a.digits === '' || b.digits === '') return a.digits.length - b.digits.length;
  if (a.point !== b.point) return a.point - b.point;
  // Both start at the same place and have no trailing zeros, so alphabetical order is numerical order.
  if (a.digits === b.digits) return 0;
  return a.digits < b.digits ? -1 : 1;
}

function format({ negative, digits, point }: Decimal): string {
  if (digits === '') return '0';
  const sign = negative ? '-' : '';
  if (Math.abs(point) > PLAIN_PLACES_MAX) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : '';
    return `${sign}${digits.slice(0, 1)}${fraction}e${point - 1}`;
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

function sum(a: Decimal, b: Decimal): string {
  const places = Math.max(placesOf(a), placesOf(b));
  return format(fromScaled(scaled(a, places) + scaled(b, places), places));
}

/** Places after the point. @throws RangeError if either side of the point has too many */
function placesOf({ digits, point }: Decimal): number {
  const places = digits.length - point;
  if (point > SUM_PLACES_MAX || places > SUM_PLACES_MAX) {
    throw new RangeError(`more than ${SUM_PLACES_MAX} places before or behind the point`);
  }
  return Math.max(0, places);
}

/** The value times `10^places`, a whole number. */
function scaled({ negative, digits, point }: Decimal, places: number): bigint {
  if (digits === '') return 0n;
  const magnitude = BigInt(digits + '0'.repeat(places + point - digits.length));
  return negative ? -magnitude : magnitude;
}

function fromScaled(value: bigint, places: number): Decimal {
  const negative = value < 0n;
  const digits = String(negative ? -value : value);
  if (digits === '0') return ZERO;
  return {
    negative,
    digits: digits.slice(0, behindLastSignificant(digits)),
    point: digits.length - places,
  };
}
