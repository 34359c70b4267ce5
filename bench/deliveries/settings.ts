import { optionsOf, positive } from '../support/settings.ts';

export interface DeliveriesSettings {
  /** The number of promised rollbacks to drain. */
  readonly backlog: number;
  /** The number of promised rollbacks that wait for an operator in maintenance. */
  readonly waiting: number;
  /** The number of delivered rows in the table when the sweep is measured. */
  readonly rows: number;
  /** Reports where the worker spends its time instead of measuring the rest. */
  readonly profile: boolean;
  /** The file for the result. */
  readonly resultFile: string;
  /** Only print the help. */
  readonly help: boolean;
}

export const DELIVERIES_HELP = `npm run bench -- deliveries [options]

Promised rollbacks of one operator, written into PostgreSQL (fsync on) as the gateway would, delivered
by one worker process with the operator's default concurrency to a wallet that answers at once.

  --backlog <n>   deliveries that are drained (20000)
  --waiting <n>   deliveries that wait for an operator in maintenance (100000)
  --rows <n>      delivered rows in the table when the sweep is measured (1000000)
  --profile       only the drain, under the CPU profiler: which functions take the time
  --out <file>    where the result goes (bench/results/deliveries.json)`;

const OPTIONS = {
  backlog: { type: 'string', default: '20000' },
  waiting: { type: 'string', default: '100000' },
  rows: { type: 'string', default: '1000000' },
  profile: { type: 'boolean', default: false },
  out: { type: 'string', default: 'bench/results/deliveries.json' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @throws SettingsError */
export function readSettings(args: readonly string[]): DeliveriesSettings {
  const values = optionsOf(args, OPTIONS);
  return {
    backlog: positive('--backlog', values.backlog),
    waiting: positive('--waiting', values.waiting),
    rows: positive('--rows', values.rows),
    profile: values.profile,
    resultFile: values.out,
    help: values.help,
  };
}
