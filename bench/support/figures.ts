/** The middle value; 0 if there are none. */
export function median(values: readonly number[]): number {
  return percentile(ascending(values), 0.5);
}

/** @param sorted ascending; the result is 0 if it is empty */
export function percentile(sorted: ArrayLike<number>, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

export function ascending(values: readonly number[]): number[] {
  return values.toSorted((one, other) => one - other);
}

export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

export function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Least and most show how far apart the rounds were. */
export function spread(values: readonly number[]) {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}
