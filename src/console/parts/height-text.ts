/** As amounts are written. In a German browser 12345 would be `12.345`, which beside `12.50` reads as twelve. */
const COMPACT = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumSignificantDigits: 4,
});

/** Numbers from here on have no short name and are written with their power of ten. */
const NAMED_MAX = 1e15;

/** The label of a value on a chart's axis. The canvas would cut off the beginning of a long one. */
export function heightText(height: number): string {
  return Math.abs(height) < NAMED_MAX
    ? COMPACT.format(height)
    : height.toExponential(1).replace('+', '');
}
