export interface Trend {
  /** The change from one value to the next. */
  readonly slope: number;
  /** The distance of the values from the line, as a standard deviation. */
  readonly noise: number;
}

/** The straight line through equidistant values, by least squares. */
export function trendOf(values: readonly number[]): Trend {
  const n = values.length;
  const middle = (n - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / n;
  let both = 0;
  let squares = 0;
  for (const [at, value] of values.entries()) {
    both += (at - middle) * (value - mean);
    squares += (at - middle) ** 2;
  }
  const slope = squares === 0 ? 0 : both / squares;
  const off = values.map((value, at) => (value - mean - slope * (at - middle)) ** 2);
  return { slope, noise: Math.sqrt(off.reduce((sum, value) => sum + value, 0) / n) };
}
