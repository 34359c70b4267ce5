import type { LoadResult } from './callbacks/load-job.ts';
import { type Servers, startServers } from './callbacks/servers.ts';
import type { PhaseResult } from './open-loop/job.ts';
import { Load } from './open-loop/load.ts';
import type { Busy } from './support/busy.ts';
import { hundredths, median, spread, tenths } from './support/figures.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';
import type { Side } from './support/surroundings.ts';

const HELP = `npm run bench -- latency [options]

What the gateway adds to the time that the wallet itself takes. Places come at a constant rate, below the
gateway's maximum, and none waits for the one before; each is timed from when it was due. Alternately through
the gateway and straight to the wallet, at half of the maximum rate and at a quarter. Then in closed loops, with
16 and with 64 connections, alternately through the gateway and through @fastify/http-proxy.

  --wallet <ms>    how long the wallet takes (20)
  --rounds <n>     measured rounds of each (3)
  --seconds <n>    how long a round takes (8)
  --out <file>     where the result goes (bench/results/latency.json)`;

/** Enough that the wallet's delay is no bottleneck; fewer than its bulkhead allows. */
const CONNECTIONS = 192;
const MAXIMUM_SECONDS = 5;
const WARM_UP_SECONDS = 2;

/**
 * What the gateway adds to the wallet's own time.
 *
 * @returns 1 if a bet was lost or doubled
 * @throws SettingsError
 */
export async function runLatency(args: readonly string[]): Promise<number> {
  const defaults = { wallet: 20, rounds: 3, seconds: 8 };
  const { numbers, resultFile, help } = numbersOf(args, 'latency', defaults);
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using servers = await startServers({ walletDelayMs: numbers.wallet });
  const load = new Load(servers);
  const most = Math.round(await load.maximum(servers.gateway, MAXIMUM_SECONDS, CONNECTIONS));
  console.log(`at most ${most} places a second`);
  const half = await measure(servers, load, numbers, Math.round(most / 2));
  const quarter = await measure(servers, load, numbers, Math.round(most / 4));
  const few = await closedLoops(servers, load, numbers, FEW);
  const many = await closedLoops(servers, load, numbers, MANY);
  return await report(resultFile, {
    benchmark: 'latency',
    settings: { ...numbers, isPinned: servers.isPinned },
    targets: [
      {
        what: `${FEW} connections, p50 over the proxy's, ms`,
        value: few.overP50Ms.median,
        atMost: 3,
      },
      {
        what: `${MANY} connections, p50 over the proxy's, ms`,
        value: many.overP50Ms.median,
        atMost: 8,
      },
      {
        what: `${MANY} connections, p99, times the proxy's`,
        value: many.timesP99.median,
        atMost: 1.3,
      },
    ],
    figures: { mostPerSecond: most, half, quarter, few, many },
    mistakes: await load.mistakes(),
  });
}

/** Closed loops, each with this many connections. */
const FEW = 16;
const MANY = 64;

/** Places in closed loops: what the gateway takes longer than the proxy of the same round. */
async function closedLoops(
  { gateway, proxy }: Servers,
  load: Load,
  {
    rounds,
    seconds,
    wallet,
  }: { readonly rounds: number; readonly seconds: number; readonly wallet: number },
  connections: number,
) {
  const pace = (1000 * connections) / wallet;
  const run = (side: Side) => load.closedLoop(side, seconds, connections, pace, side === gateway);
  const pairs: { readonly gateway: LoadResult; readonly proxy: LoadResult }[] = [];
  for (let n = 1; n <= rounds; n += 1) {
    const pair = { gateway: await run(gateway), proxy: await run(proxy) };
    pairs.push(pair);
    const line = (name: string, { p50Ms, p99Ms }: LoadResult) =>
      `${name} p50 ${tenths(p50Ms)} ms, p99 ${tenths(p99Ms)} ms`;
    const told = [line('gateway', pair.gateway), line('proxy', pair.proxy)];
    console.log(`${connections} connections, ${n} of ${rounds}: ${told.join('; ')}`);
  }
  return {
    connections,
    overP50Ms: spread(pairs.map((pair) => tenths(pair.gateway.p50Ms - pair.proxy.p50Ms))),
    timesP99: spread(pairs.map((pair) => hundredths(pair.gateway.p99Ms / pair.proxy.p99Ms))),
  };
}

type Sent = PhaseResult & { readonly busy: Busy };

interface Round {
  readonly gateway: Sent;
  readonly wallet: Sent;
}

async function measure(
  { gateway, walletUrl }: Servers,
  load: Load,
  settings: { readonly rounds: number; readonly seconds: number },
  perSecond: number,
) {
  // Only the address is right: `process` is still the gateway's, so its processor time means nothing here.
  const wallet = { ...gateway, url: walletUrl };
  const run = async (side: Side): Promise<Sent> => {
    const phases = [WARM_UP_SECONDS, settings.seconds].map((seconds) => ({ perSecond, seconds }));
    const { phases: results, busy } = await load.open(side, phases, {
      journaled: side === gateway,
    });
    const result = results.at(-1);
    if (result === undefined) throw new Error('nothing was sent');
    return { ...result, busy };
  };
  const rounds: Round[] = [];
  for (let n = 1; n <= settings.rounds; n += 1) {
    const round = { gateway: await run(gateway), wallet: await run(wallet) };
    rounds.push(round);
    const told = [lineOf('gateway', round.gateway), lineOf('wallet', round.wallet)];
    console.log(`${perSecond} a second, ${n} of ${settings.rounds}: ${told.join('; ')}`);
  }
  const added = (of: (side: PhaseResult) => number) =>
    rounds.map((round) => tenths(of(round.gateway) - of(round.wallet)));
  return {
    perSecond,
    addedP50Ms: spread(added(({ p50Ms }) => p50Ms)),
    addedP99Ms: spread(added(({ p99Ms }) => p99Ms)),
    // `gateway` is the gateway's own processor, `rest` the one for everything that it needs.
    busyPercent: {
      gateway: median(rounds.map((round) => round.gateway.busy.measured)),
      rest: median(rounds.map((round) => round.gateway.busy.rest)),
    },
    gateway: summaryOf(rounds.map((round) => round.gateway)),
    wallet: summaryOf(rounds.map((round) => round.wallet)),
  };
}

function lineOf(name: string, { p50Ms, p99Ms, maxMs, answers }: PhaseResult): string {
  return `${name} p50 ${p50Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms ${JSON.stringify(answers)}`;
}

/** Medians over the rounds. */
function summaryOf(rounds: readonly PhaseResult[]) {
  return {
    p50Ms: tenths(median(rounds.map(({ p50Ms }) => p50Ms))),
    p99Ms: tenths(median(rounds.map(({ p99Ms }) => p99Ms))),
    maxMs: tenths(Math.max(...rounds.map(({ maxMs }) => maxMs))),
    sent: rounds.reduce((total, { sent }) => total + sent, 0),
    good: rounds.reduce((total, { answers }) => total + (answers['200'] ?? 0), 0),
  };
}
