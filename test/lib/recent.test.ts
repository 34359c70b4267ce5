import { expect, it } from 'vitest';
import { recentMap } from '../../src/lib/recent.ts';

it('keeps as many keys as it may, those that were used last', () => {
  const map = recentMap<string>(3);
  for (const key of ['a', 'b', 'c']) map.set(key, key);
  map.get('a');
  map.set('b', 'again');
  map.set('d', 'd');
  expect([...map.keys()].sort()).toEqual(['a', 'b', 'd']);
  expect(map.get('b')).toBe('again');
});

it('goes on doing so however often it is filled', () => {
  const map = recentMap<string>(100);
  for (let n = 0; n < 10_000; n += 1) map.set(`key-${n}`, 'value');
  expect(map.size).toBe(100);
  expect(map.has('key-9900')).toBe(true);
  expect(map.has('key-9899')).toBe(false);
});
