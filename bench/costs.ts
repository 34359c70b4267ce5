import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { startServers } from './callbacks/servers.ts';
import { Load } from './open-loop/load.ts';
import { spread, tenths } from './support/figures.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';
import type { GatewaySide } from './support/surroundings.ts';

const HELP = `npm run bench -- costs [options]

What observability costs: a gateway's processor time per place with a log line each, metrics scraped as often
as the chart does, and one trace in a hundred, compared with a gateway without any of these. Alternately, at
the same constant rate. Both only take callbacks, so that neither has work in the background.

  --rate <n>      places a second (1000)
  --rounds <n>    measured rounds of each (5)
  --seconds <n>   how long a round takes (15)
  --out <file>    where the result goes (bench/results/costs.json)`;

/** `serviceMonitor.interval` of the chart, and the interval of the demonstration's Prometheus. */
const SCRAPE_EVERY_MS = 15_000;
const WARM_UP_BETS = 10_000;
const CONNECTIONS = 64;

/** @returns 1 if a bet was lost or doubled. @throws SettingsError */
export async function runCosts(args: readonly string[]): Promise<number> {
  const defaults = { rate: 1_000, rounds: 5, seconds: 15 };
  const { numbers, resultFile, help } = numbersOf(args, 'costs', defaults);
  if (help) {
    console.log(HELP);
    return 0;
  }
  const ROLES = 'http';
  await using servers = await startServers({ env: { ROLES, LOG_LEVEL: 'silent' } });
  const collector = await servers.startServer('bench/costs/collector.ts', []);
  const silent = servers.gateway;
  const seen = await servers.startGateway({
    ...{ ROLES, LOG_LEVEL: 'info' },
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  });
  const load = new Load(servers);
  for (const side of [silent, seen]) await load.warmUp(side, WARM_UP_BETS, CONNECTIONS);

  const phases = [{ perSecond: numbers.rate, seconds: numbers.seconds }];
  const cpuUs = async (side: GatewaySide): Promise<number> => {
    const { cpuMs, good } = await load.open(side, phases);
    if (cpuMs === undefined) throw new Error('this system does not tell processor times');
    return tenths((1000 * cpuMs) / good.length);
  };
  const rounds: { readonly silentUs: number; readonly seenUs: number }[] = [];
  for (let n = 1; n <= numbers.rounds; n += 1) {
    const silentUs = await cpuUs(silent);
    const seenUs = await whileScraped(seen, () => cpuUs(seen));
    rounds.push({ silentUs, seenUs });
    console.log(`round ${n}: ${silentUs} us a place without, ${seenUs} us with all of it`);
  }
  const spans = await (await fetch(collector.url)).text();
  const [silentUs, seenUs] = [rounds.map((one) => one.silentUs), rounds.map((one) => one.seenUs)];
  const percents = spread(rounds.map((one) => tenths((100 * one.seenUs) / one.silentUs - 100)));
  return await report(resultFile, {
    benchmark: 'costs',
    settings: { ...numbers, isPinned: servers.isPinned },
    targets: [
      {
        what: 'logs, metrics and traces: percent more processor time',
        value: percents.median,
        atMost: 8,
      },
    ],
    figures: {
      silentUs: spread(silentUs),
      seenUs: spread(seenUs),
      percents,
      tracesReceived: Number(spans),
    },
    mistakes: await load.mistakes(),
  });
}

/** Scrapes as Prometheus does, at least once. */
async function whileScraped<T>({ adminUrl }: GatewaySide, work: () => Promise<T>): Promise<T> {
  const { promise: over, resolve: end } = Promise.withResolvers<'over'>();
  const aWhile = () => sleep(SCRAPE_EVERY_MS, 'again' as const, { ref: false });
  const scraping = (async () => {
    do {
      const headers = { 'accept-encoding': 'gzip' };
      const { body, statusCode } = await request(`${adminUrl}/metrics`, { headers });
      await body.dump();
      if (statusCode !== 200) throw new Error(`/metrics answered ${statusCode}`);
    } while ((await Promise.race([over, aWhile()])) === 'again');
  })();
  try {
    return await work();
  } finally {
    end('over');
    await scraping;
  }
}
