import { optionsOf, positive } from '../support/settings.ts';

export interface CallbacksSettings {
  readonly connections: number;
  readonly rounds: number;
  /** About how long a round takes; how many bets that are is known after the warm-up. */
  readonly roundSeconds: number;
  /** Bets of the warm-up of each side. */
  readonly warmUpBets: number;
  /** Tells where the gateway spends its time instead of comparing it. */
  readonly profile: boolean;
  /** Where the result is written. */
  readonly resultFile: string;
  /** Only the help was asked for. */
  readonly help: boolean;
}

export const CALLBACKS_HELP = `npm run bench -- callbacks [options]

Place bets at the gateway and at @fastify/http-proxy in turn, in front of the same wallet that
answers at once. Both are processes of their own, the gateway with PostgreSQL (fsync on) and Redis.

  --connections <n>   connections at once (64)
  --rounds <n>        measured rounds of each side (3)
  --seconds <n>       about how long a round takes (8)
  --warm-up <n>       bets before it is measured, each side (10000)
  --profile           only the gateway, under the CPU profiler: which functions take the time
  --out <file>        where the result goes (bench/results/callbacks.json)`;

const OPTIONS = {
  connections: { type: 'string', default: '64' },
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '8' },
  'warm-up': { type: 'string', default: '10000' },
  profile: { type: 'boolean', default: false },
  out: { type: 'string', default: 'bench/results/callbacks.json' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @throws SettingsError */
export function readSettings(args: readonly string[]): CallbacksSettings {
  const values = optionsOf(args, OPTIONS);
  return {
    connections: positive('--connections', values.connections),
    rounds: positive('--rounds', values.rounds),
    roundSeconds: positive('--seconds', values.seconds),
    warmUpBets: positive('--warm-up', values['warm-up']),
    profile: values.profile,
    resultFile: values.out,
    help: values.help,
  };
}
