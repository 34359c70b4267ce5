import { expect } from 'vitest';

/**
 * Does a piece of work and holds it to what it may cost. The processor's time counts, not the clock's:
 * a machine with much to do is no slow parser.
 */
export function within<T>(costMsMax: number, work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(costMsMax);
  return result;
}
