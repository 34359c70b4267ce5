import { runBooks } from './books.ts';
import { runCallbacks } from './callbacks/benchmark.ts';
import { readSettings } from './callbacks/settings.ts';
import { runConsole } from './console.ts';
import { runDeliveries } from './deliveries.ts';
import { runPlaceCosts } from './place-costs.ts';
import { runScrape } from './scrape.ts';
import { runStrangers } from './strangers.ts';
import { SettingsError } from './support/settings.ts';

interface Benchmark {
  readonly about: string;
  /** @returns the process's exit code */
  readonly run: (args: readonly string[]) => Promise<number>;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  callbacks: {
    about: 'place bets per second through the gateway and through a bare HTTP proxy',
    run: (args) => runCallbacks(readSettings(args)),
  },
  console: {
    about: 'how long people wait: searches with five million bets, Now with a thousand operators',
    run: runConsole,
  },
  deliveries: {
    about: 'how fast promised deliveries come home, and what waiting costs',
    run: runDeliveries,
  },
  books: {
    about: 'how fast the bookkeeper books, and how long a year takes to read',
    run: runBooks,
  },
  'place-costs': {
    about: 'what a place bet pays for evidence, and for being found by its stake',
    run: runPlaceCosts,
  },
  scrape: {
    about: 'what a scrape of the metrics costs with a thousand operators',
    run: runScrape,
  },
  strangers: {
    about: 'what bodies that never end cost in memory, and the service in time',
    run: runStrangers,
  },
};

const HELP = [
  'npm run bench -- <name> [options]',
  '',
  ...Object.entries(BENCHMARKS).map(([name, { about }]) => `  ${name.padEnd(12)}${about}`),
  '',
  '`npm run bench -- <name> --help` tells its options; without a name all of them run.',
].join('\n');

process.exit(await main(process.argv.slice(2)));

async function main([name, ...args]: string[]): Promise<number> {
  if (name === '--help' || name === '-h') {
    console.log(HELP);
    return 0;
  }
  if (name === undefined) {
    const codes: number[] = [];
    for (const benchmark of Object.values(BENCHMARKS)) codes.push(await benchmark.run([]));
    return Math.max(...codes);
  }
  const chosen = BENCHMARKS[name];
  if (chosen === undefined) {
    console.error(`no benchmark ${name}\n\n${HELP}`);
    return 2;
  }
  try {
    return await chosen.run(args);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(error.message);
    return 2;
  }
}
