/**
 * How long properties search: short and with a fixed seed in the tests, or as `npm run fuzz` asks. A failure prints
 * its seed, and `npm run fuzz -- --seed N` plays it again.
 *
 * @param numRuns number of cases in the test suite
 */
export function effort(numRuns: number): { readonly seed: number; readonly numRuns: number } {
  return { seed: wish('FUZZ_SEED', 1), numRuns: numRuns * wish('FUZZ_TIMES', 1) };
}

function wish(name: string, usual: number): number {
  const value = Number(process.env[name] ?? usual);
  if (!Number.isSafeInteger(value)) throw new Error(`${name} must be a whole number`);
  return value;
}
