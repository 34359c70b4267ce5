import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runCallbacks } from './callbacks/benchmark.ts';
import { readSettings } from './callbacks/settings.ts';
import { runDeliveries } from './deliveries.ts';
import { runGrowth } from './growth.ts';
import { runIsolation } from './isolation.ts';
import { runLatency } from './latency.ts';
import { runOperations } from './operations.ts';
import { runOverload } from './overload.ts';
import { SettingsError } from './support/settings.ts';
import { pageWithTargets, targetTable } from './support/targets.ts';

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
  operations: {
    about: 'settles and rollbacks compared with places: how long they take, how many per second',
    run: runOperations,
  },
  latency: {
    about:
      'what the gateway adds to the time of a wallet, at half and a quarter of its maximum rate',
    run: runLatency,
  },
  overload: {
    about:
      'what happens to places at three times the maximum rate, and how soon the gateway recovers',
    run: runOverload,
  },
  isolation: {
    about: 'whether four bad operators affect the other ones of fifty: their p99 and throughput',
    run: runIsolation,
  },
  growth: {
    about: 'places with an empty journal and a full one, and while a month is pruned',
    run: runGrowth,
  },
  deliveries: {
    about: 'how fast promised deliveries are confirmed, and what waiting costs',
    run: runDeliveries,
  },
};

const PAGE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));

const HELP = [
  'npm run bench -- <name> [options]',
  '',
  ...Object.entries(BENCHMARKS).map(([name, { about }]) => `  ${name.padEnd(12)}${about}`),
  '',
  '`npm run bench -- <name> --help` shows its options; without a name all of them run.',
  '`npm run bench -- targets` prints the targets of all results and writes them into docs/performance.md.',
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
    tellTargets();
    return Math.max(...codes);
  }
  if (name === 'targets') {
    tellTargets();
    return 0;
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

/** Prints the targets with the latest measurements, and writes them to the document. */
function tellTargets(): void {
  console.log(`\n${targetTable()}`);
  writeFileSync(PAGE, pageWithTargets(readFileSync(PAGE, 'utf8')));
}
