/**
 * Maps with at most `limit` calls in flight; the results are in the order of the items.
 * @throws the error of the first call that fails; no call begins after that, those in flight go on
 */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results = new Map<number, R>();
  const waiting = items.entries();
  let hasFailed = false;
  const work = async () => {
    for (const [index, item] of waiting) {
      if (hasFailed) return;
      try {
        results.set(index, await map(item));
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return [...results].sort(([a], [b]) => a - b).map(([, result]) => result);
}
