import { LRUCache } from 'lru-cache';

/**
 * A map of the `entriesMax` most recently used keys. Bounded by `maxSize`, it allocates memory as it fills;
 * with `max` the library would allocate it all at once, which takes tens of milliseconds at every start.
 */
export function recentMap<Value extends object | string>(
  entriesMax: number,
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
