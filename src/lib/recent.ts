import { LRUCache } from 'lru-cache';

/**
 * A map of the `entriesMax` keys that were used last. It takes memory as it fills: bounded by `max`,
 * the library would allocate and clear room for all of them at once, tens of milliseconds of each start.
 */
export function recentMap<Value extends object | string>(
  entriesMax: number,
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
