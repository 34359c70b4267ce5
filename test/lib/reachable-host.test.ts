import { expect, it } from 'vitest';
import { reachableHost } from '../../src/lib/reachable-host.ts';

it.each([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
  ['192.0.2.1', '192.0.2.1'],
  ['localhost', 'localhost'],
])('a listener on %s is asked at %s', (listening, asked) => {
  expect(reachableHost(listening)).toBe(asked);
});
