import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `npm run fuzz -- [--minutes N] [--seed N] [--times N] [FILE …]

Plays the properties of test/fuzz/ again and again, each round with another seed, until the minutes
are over (default 1) or one fails. Ends with 0 when nothing was found.

  --seed N    this seed alone: what a failure printed
  --times N   so many times the cases of the suite in each round (default 5)
  FILE        only files whose path contains this`;

const ROOT = resolve(import.meta.dirname, '../..');
const SEED_MAX = 2 ** 31;

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string' },
      times: { type: 'string', default: '5' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const times = values.times;
  if (values.seed !== undefined) return round(values.seed, times, positionals);
  const endsAtMs = performance.now() + Number(values.minutes) * 60_000;
  for (let rounds = 1; ; rounds += 1) {
    const seed = String(randomInt(1, SEED_MAX));
    console.log(`round ${rounds}, seed ${seed}`);
    if (round(seed, times, positionals) !== 0) {
      console.log(`found something: npm run fuzz -- --seed ${seed} --times ${times}`);
      return 1;
    }
    // Also ends if the minutes are not a number: then one round is enough.
    if (!(performance.now() < endsAtMs)) return 0;
  }
}

function round(seed: string, times: string, files: readonly string[]): number {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const which = files.length === 0 ? ['test/fuzz/'] : files;
  const limitMs = 30_000 * Math.max(1, Number(times));
  const { status } = spawnSync(
    process.execPath,
    [vitest, 'run', `--testTimeout=${limitMs}`, '--reporter=dot', ...which],
    {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, FUZZ_SEED: seed, FUZZ_TIMES: times },
    },
  );
  return status ?? 1;
}

process.exitCode = main();
