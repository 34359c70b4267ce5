import { optionsOf, positive, SettingsError } from '../support/settings.ts';
import type { LoadClient, LoadOperation } from './load-job.ts';

export interface CallbacksSettings {
  readonly connections: number;
  readonly rounds: number;
  /** About how long a round takes; the warm-up shows how many bets that is. */
  readonly roundSeconds: number;
  /** Bets in the warm-up of each side. */
  readonly warmUpBets: number;
  /** The load generator; undefined: wrk if it is installed. */
  readonly client: LoadClient | undefined;
  readonly operations: readonly LoadOperation[];
  /** Reports where the gateway spends its time instead of comparing it. */
  readonly profile: boolean;
  /** The file for the result. */
  readonly resultFile: string;
  /** Only print the help. */
  readonly help: boolean;
}

export const CALLBACKS_HELP = `npm run bench -- callbacks [options]

Place bets and balances, alternately at the gateway and at @fastify/http-proxy, in front of the same
wallet that answers at once. Both run in their own processes, the gateway with PostgreSQL (fsync on) and
Redis. If taskset is installed, the two share one processor, each while the other idles, and everything
else has another.

  --connections <n>   concurrent connections (64)
  --rounds <n>        measured rounds of each side (3)
  --seconds <n>       about how long a round takes (8)
  --warm-up <n>       bets before the measurement, for each side (10000)
  --client <name>     load generator: wrk or autocannon (wrk if it is installed)
  --only <operation>  place or balance (both)
  --profile           only the gateway, under the CPU profiler: which functions take the time
  --out <file>        where the result goes (bench/results/callbacks.json)`;

const OPTIONS = {
  connections: { type: 'string', default: '64' },
  rounds: { type: 'string', default: '3' },
  seconds: { type: 'string', default: '8' },
  'warm-up': { type: 'string', default: '10000' },
  client: { type: 'string' },
  only: { type: 'string' },
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
    client: oneOf('--client', CLIENTS, values.client),
    operations: operationsOf(values.only),
    profile: values.profile,
    resultFile: values.out,
    help: values.help,
  };
}

const CLIENTS = ['wrk', 'autocannon'] as const;
const OPERATIONS = ['place', 'balance'] as const;

function operationsOf(only: string | undefined): readonly LoadOperation[] {
  const operation = oneOf('--only', OPERATIONS, only);
  return operation === undefined ? OPERATIONS : [operation];
}

function oneOf<T extends string>(
  name: string,
  known: readonly T[],
  text: string | undefined,
): T | undefined {
  const found = known.find((one) => one === text);
  if (text === undefined || found !== undefined) return found;
  throw new SettingsError(`${name} must be one of: ${known.join(', ')}`);
}
