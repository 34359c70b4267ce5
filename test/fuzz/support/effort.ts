/**
 * How long properties look for trouble: as fixed and short as a test has to be, or as `npm run fuzz`
 * wishes. What fails prints its seed: `npm run fuzz -- --seed N` plays it again.
 *
 * @param numRuns cases in the suite
 */
export function effort(numRuns: number): { readonly seed: number; readonly numRuns: number } {
  return { seed: wish('FUZZ_SEED', 1), numRuns: numRuns * wish('FUZZ_TIMES', 1) };
}

function wish(name: string, usual: number): number {
  const value = Number(process.env[name] ?? usual);
  if (!Number.isSafeInteger(value)) throw new Error(`${name} must be a whole number`);
  return value;
}
