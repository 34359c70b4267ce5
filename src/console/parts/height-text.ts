const COMPACT = new Intl.NumberFormat(undefined, {
  notation: 'compact',
  maximumSignificantDigits: 4,
});

/** What has no short name is written with its power of ten. */
const NAMED_MAX = 1e15;

/** A number beside a chart's lines. Of a long one the canvas would cut off the beginning. */
export function heightText(height: number): string {
  return Math.abs(height) < NAMED_MAX
    ? COMPACT.format(height)
    : height.toExponential(1).replace('+', '');
}
