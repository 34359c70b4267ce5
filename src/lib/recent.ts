import { LRUCache } from 'lru-cache';

/** A map of the most recently used keys. `maxSize` allocates as it fills; `max` would all at once. */
export function recentMap<Value extends object | string>(
  entriesMax: number,
): LRUCache<string, Value> {
  return new LRUCache<string, Value>({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
