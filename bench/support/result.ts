import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { dirname } from 'node:path';

/** One of the project's performance targets, with the measured value. */
export interface Target {
  readonly what: string;
  readonly value: number;
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** As it is written to a result. */
function judged(target: Target) {
  return { ...target, met: isMet(target) };
}

function isMet({ value, atMost, atLeast }: Target): boolean {
  return (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast);
}

/** One line for people that says what the target is and whether it is met. */
function targetLine(target: Target): string {
  const { what, value, atMost, atLeast } = target;
  const bound = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`;
  return `${what}: ${value} (target: ${bound}) ${isMet(target) ? 'met' : 'NOT MET'}`;
}

export interface BenchmarkResult {
  readonly benchmark: string;
  /** How it was measured. */
  readonly settings: object;
  readonly targets: readonly Target[];
  readonly figures: object;
  /** Money that was lost or doubled, in words. */
  readonly mistakes: readonly string[];
}

/**
 * Prints the targets, then the mistakes, and writes everything to the result file, with the machine that was used.
 * @returns the exit code: 1 if money was lost or doubled
 */
export async function report(file: string, result: BenchmarkResult): Promise<number> {
  const { benchmark, settings, targets, figures, mistakes } = result;
  console.log(`\n${targets.map(targetLine).join('\n')}`);
  for (const mistake of mistakes) console.error(`WRONG: ${mistake}`);
  const written = {
    benchmark,
    measuredAt: new Date().toISOString(),
    on: {
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      // All of the machine's processors: this process itself may be limited to one of them.
      processors: cpus().length,
    },
    settings,
    targets: targets.map(judged),
    ...figures,
    mistakes,
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(written, undefined, 2)}\n`);
  return mistakes.length === 0 ? 0 : 1;
}
