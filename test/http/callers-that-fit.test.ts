import { expect, it } from 'vitest';
import { callersThatFit, OWN_FILES } from '../../src/http/callers-that-fit.ts';

it.for([
  ['all that is left where the bulkheads are small', 10_000, 640, 10_000 - OWN_FILES - 640],
  ['half of it where bulkheads let each caller have a connection', 4_096, 300_000, 1_973],
  ['no end where there is no limit', Infinity, 640, Infinity],
] as const)('lets in %s', ([, max, outward, callers]) => {
  expect(callersThatFit({ max, outward })).toBe(callers);
});

it('never lets in more than the process can serve: callers, their calls and its own files (I7)', () => {
  for (const max of [160, 256, 1024, 4096, 65_536]) {
    for (const outward of [0, 1, 576, 5_000, 100_000]) {
      const callers = callersThatFit({ max, outward });
      expect(callers).toBeGreaterThan(0);
      expect(callers + Math.min(callers, outward) + OWN_FILES).toBeLessThanOrEqual(max);
      const more = callers + 1;
      expect(more + Math.min(more, outward) + OWN_FILES).toBeGreaterThan(max);
    }
  }
});

it('has room for nobody if its own files do not fit', () => {
  expect(callersThatFit({ max: OWN_FILES, outward: 0 })).toBeLessThan(1);
});
