import { expect } from 'vitest';

/**
 * Runs work and checks its cost. Processor time counts, not elapsed time: a busy machine does not make a parser
 * slow.
 */
export function within<T>(costMsMax: number, work: () => T): T {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(costMsMax);
  return result;
}
