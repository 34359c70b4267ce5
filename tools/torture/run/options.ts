import { parseArgs } from 'node:util';

export const HELP = `npm run torture -- [--seed N] [--steps K] [--seeds COUNT] [--minutes M] [options]

Plays random but reproducible histories against the real gateway, on its own PostgreSQL and Redis, with
faults at every edge, and checks what must never happen. Exits with 0 if nothing was found.

  --seed N        the first seed (1)
  --steps K       about how many things the service does in one history (25)
  --seeds COUNT   how many seeds to play, one after the other (1)
  --minutes M     as many seeds as there is time for, at most --seeds if that is given
  --jobs J        deployments (gateways with wallets and proxies) at once: 1, 2, 4 or 8 (8)
  --story         print every story, not only those of failures
  --help          this text`;

export interface Options {
  readonly seed: number;
  readonly steps: number;
  readonly seeds: number;
  /** Undefined: no time limit. */
  readonly minutes: number | undefined;
  readonly jobs: number;
  readonly printsAll: boolean;
  readonly help: boolean;
}

const JOBS = [1, 2, 4, 8];
const DEFAULT_STEPS = 25;

/** @throws RangeError or TypeError with a one-line message for people */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      steps: { type: 'string' },
      seeds: { type: 'string' },
      minutes: { type: 'string' },
      jobs: { type: 'string' },
      story: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const minutes = values.minutes === undefined ? undefined : number('minutes', values.minutes);
  const jobs = whole('jobs', values.jobs ?? '8');
  if (!JOBS.includes(jobs)) throw new RangeError(`--jobs is one of ${JOBS.join(', ')}`);
  return {
    seed: whole('seed', values.seed ?? '1'),
    steps: whole('steps', values.steps ?? String(DEFAULT_STEPS)),
    seeds: whole(
      'seeds',
      values.seeds ?? (minutes !== undefined ? String(Number.MAX_SAFE_INTEGER) : '1'),
    ),
    minutes,
    jobs,
    printsAll: values.story === true,
    help: values.help === true,
  };
}

function whole(name: string, text: string): number {
  const value = number(name, text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`--${name} is a whole number`);
  return value;
}

function number(name: string, text: string): number {
  const value = Number(text);
  if (text === '' || !Number.isFinite(value) || value < 0) {
    throw new RangeError(`--${name} is a number of 0 or more, not ${text}`);
  }
  return value;
}
