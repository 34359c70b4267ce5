import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startServers } from './callbacks/servers.ts';
import { Load } from './open-loop/load.ts';
import { trendOf } from './steady/trend.ts';
import { ascending, hundredths, percentile, tenths } from './support/figures.ts';
import { largeJournal } from './support/large-journal.ts';
import { residentBytes } from './support/memory.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';
import type { GatewaySide } from './support/surroundings.ts';

const HELP = `npm run bench -- steady [options]

Half of the gateway's maximum rate, for minutes: whether its memory grows, whether places take longer from
minute to minute, and how long its event loop is blocked (p99 between two scrapes). PostgreSQL is set up for a large journal, as
in docs/databases.md.

  --minutes <n>   for how long (10)
  --buffers <n>   megabytes that PostgreSQL keeps in its own memory, a quarter of the machine's (4096)
  --out <file>    where the result goes (bench/results/steady.json)`;

const CONNECTIONS = 64;
const MAXIMUM_SECONDS = 6;
const SAMPLE_MS = 1_000;
const SCRAPE_EVERY = 5;
/** The share of the time that is skipped: a process behaves differently in its first minutes. */
const SETTLED_FROM = 0.3;
const LOOP_LAG = /^nodejs_eventloop_lag_p99_seconds\S* ([\d.e+-]+)$/m;

/** @returns 1 if a bet was lost or doubled. @throws SettingsError */
export async function runSteady(args: readonly string[]): Promise<number> {
  const { numbers, resultFile, help } = numbersOf(args, 'steady', {
    minutes: 10,
    buffers: 4_096,
  });
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using servers = await startServers({ postgres: largeJournal(numbers.buffers) });
  const load = new Load(servers);
  const most = Math.round(await load.maximum(servers.gateway, MAXIMUM_SECONDS, CONNECTIONS));
  const perSecond = Math.round(most / 2);
  console.log(`at most ${most} places a second; ${numbers.minutes} minutes of ${perSecond}`);
  const phases = Array.from({ length: numbers.minutes }, () => ({ perSecond, seconds: 60 }));
  const watch = new Watch(servers.gateway);
  const watching = watch.run();
  const results = await load.open(servers.gateway, phases).finally(() => watch.stop());
  await watching;

  const minutes = results.phases.map(({ p50Ms, p99Ms, maxMs, answers }, n) => {
    console.log(`minute ${n + 1}: p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${JSON.stringify(answers)}`);
    return { p50Ms, p99Ms, maxMs };
  });
  const settled = watch.bytes.slice(Math.floor(watch.bytes.length * SETTLED_FROM));
  const trend = trendOf(settled.map((bytes) => bytes / 1e6));
  const growthMb = tenths(trend.slope * settled.length);
  const noiseMb = tenths(2 * trend.noise);
  const lag = ascending(watch.lagMs);
  const [first, last] = [minutes[0]?.p50Ms ?? 0, minutes.at(-1)?.p50Ms ?? 0];
  return await report(resultFile, {
    benchmark: 'steady',
    settings: { ...numbers, perSecond, isPinned: servers.isPinned },
    targets: [
      { what: 'growth of memory, MB (at most its noise)', value: growthMb, atMost: noiseMb },
      {
        what: 'p50 of the last minute, times the first',
        value: hundredths(last / first),
        atMost: 1.2,
      },
      {
        what: 'event loop held, p99, median of the scrapes, ms',
        value: percentile(lag, 0.5),
        atMost: 30,
      },
    ],
    figures: {
      minutes,
      memoryMb: {
        first: tenths((settled[0] ?? 0) / 1e6),
        most: tenths(Math.max(...settled) / 1e6),
        growthMb,
        noiseMb,
        perMinute: hundredths(trend.slope * 60),
      },
      loopP99Ms: { median: percentile(lag, 0.5), most: lag.at(-1) ?? 0, scrapes: lag.length },
    },
    mistakes: await load.mistakes(),
  });
}

/** Samples a gateway once a second. */
class Watch {
  readonly bytes: number[] = [];
  /** The lag since the previous scrape, one value per scrape. */
  readonly lagMs: number[] = [];
  readonly #gateway: GatewaySide;
  readonly #stop = new AbortController();

  constructor(gateway: GatewaySide) {
    this.#gateway = gateway;
  }

  stop(): void {
    this.#stop.abort();
  }

  async run(): Promise<void> {
    const { process, adminUrl } = this.#gateway;
    // Resets the lag: what came before is not measured.
    await this.#scrape(adminUrl);
    while (!this.#stop.signal.aborted) {
      await sleep(SAMPLE_MS);
      this.bytes.push((await residentBytes(process.pid)) ?? 0);
      if (this.bytes.length % SCRAPE_EVERY !== 0) continue;
      const lagMs = await this.#scrape(adminUrl);
      this.lagMs.push(lagMs);
    }
  }

  async #scrape(adminUrl: string): Promise<number> {
    const { body } = await request(`${adminUrl}/metrics`);
    const seconds = LOOP_LAG.exec(await body.text())?.[1];
    if (seconds === undefined) throw new Error('no event-loop lag in the metrics');
    return tenths(Number(seconds) * 1_000);
  }
}
