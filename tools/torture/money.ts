/** Hundred-millionths in a `bigint`, independent of the gateway's decimals, so that no mistake hides. */
const PLACES = 8;
const UNIT = 10n ** BigInt(PLACES);
const PLAIN = /^(\d+)(?:\.(\d+))?$/;

/** @throws RangeError for anything but plain decimal text with at most 8 places */
export function moneyOf(text: string): bigint {
  const match = PLAIN.exec(text);
  const [, whole = '', fraction = ''] = match ?? [];
  if (match === null || fraction.length > PLACES) throw new RangeError(`no amount: ${text}`);
  return BigInt(whole) * UNIT + BigInt(fraction.padEnd(PLACES, '0'));
}

/** Plain decimal text without trailing zeros; may begin with a minus. */
export function moneyText(amount: bigint): string {
  const sign = amount < 0n ? '-' : '';
  const absolute = amount < 0n ? -amount : amount;
  const fraction = String(absolute % UNIT)
    .padStart(PLACES, '0')
    .replace(/0+$/, '');
  return `${sign}${absolute / UNIT}${fraction === '' ? '' : `.${fraction}`}`;
}
