/** The candidate that `word` most likely stands for, or undefined if none is close. */
export function nearMiss(word: string, candidates: readonly string[]): string | undefined {
  const wanted = plain(word);
  const distanceMax = Math.max(1, Math.floor(wanted.length / 3));
  const distances = candidates
    // The difference in length is a lower bound of the distance: this avoids comparing long words.
    .filter((candidate) => Math.abs(plain(candidate).length - wanted.length) <= distanceMax)
    .map((candidate) => ({ candidate, distance: editDistance(wanted, plain(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const [nearest] = distances;
  return nearest !== undefined && nearest.distance <= distanceMax ? nearest.candidate : undefined;
}

/** `timeout_ms`, `timeout-ms` and `TimeoutMs` all mean `timeoutMs`. */
const plain = (word: string): string => word.toLowerCase().replaceAll(/[_-]/g, '');

/** Letters to insert, drop, replace or swap with their neighbour to get from `a` to `b`. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    rows.push(row);
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : replaced;
      row.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
}
