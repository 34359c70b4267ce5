/** Maps with at most `limit` calls in flight, results in order. @throws the first error; no call begins after it */
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
