import { optionsOf, positive } from '../support/settings.ts';

export interface ScrapeSettings {
  /** The number of operators, all active with every operation. */
  readonly operators: number;
  readonly scrapes: number;
  /** The file for the result. */
  readonly resultFile: string;
  /** Only print the help. */
  readonly help: boolean;
}

export const SCRAPE_HELP = `npm run bench -- scrape [options]

One scrape as Prometheus does it, over HTTP and compressed, of a gateway whose operators have all used
every operation.

  --operators <n>   how many operators (1000)
  --scrapes <n>     how often it is scraped (20)
  --out <file>      where the result goes (bench/results/scrape.json)`;

const OPTIONS = {
  operators: { type: 'string', default: '1000' },
  scrapes: { type: 'string', default: '20' },
  out: { type: 'string', default: 'bench/results/scrape.json' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** @throws SettingsError */
export function readSettings(args: readonly string[]): ScrapeSettings {
  const values = optionsOf(args, OPTIONS);
  return {
    operators: positive('--operators', values.operators),
    scrapes: positive('--scrapes', values.scrapes),
    resultFile: values.out,
    help: values.help,
  };
}
