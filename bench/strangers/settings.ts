import { optionsOf, positive } from '../support/settings.ts';

export interface StrangersSettings {
  /** Concurrent connections, each with a body that does not end. */
  readonly connections: number;
  /** How many bytes of its body each sends. */
  readonly bodyBytes: number;
  readonly seconds: number;
  /** The file for the result. */
  readonly resultFile: string;
  /** Only print the help. */
  readonly help: boolean;
}

export const STRANGERS_HELP = `npm run bench -- strangers [options]

Strangers who send most of a body and then nothing more, while the service places bets: at first once each,
then again a second after their connection was closed. The gateway process has the limits of the example
configuration.

  --connections <n>  how many at once (1500)
  --body <bytes>     what each sends (250000)
  --seconds <n>      for how long, each time (10)
  --out <file>       where the result goes (bench/results/strangers.json)`;

const OPTIONS = {
  connections: { type: 'string', default: '1500' },
  body: { type: 'string', default: '250000' },
  seconds: { type: 'string', default: '10' },
  out: { type: 'string', default: 'bench/results/strangers.json' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @throws SettingsError */
export function readSettings(args: readonly string[]): StrangersSettings {
  const values = optionsOf(args, OPTIONS);
  return {
    connections: positive('--connections', values.connections),
    bodyBytes: positive('--body', values.body),
    seconds: positive('--seconds', values.seconds),
    resultFile: values.out,
    help: values.help,
  };
}
