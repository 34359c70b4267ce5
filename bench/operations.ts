import { setTimeout as sleep } from 'node:timers/promises';
import { createService } from '../tools/simulator/service.ts';
import { startServers } from './callbacks/servers.ts';
import { ascending, hundredths, median, percentile, tenths } from './support/figures.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';

const HELP = `npm run bench -- operations [options]

The operations after a place: bets are placed, settled and rolled back, each time by several callers at once.
How long a callback takes, and how many are served per second, compared with places.

  --bets <n>      bets of a round (4000)
  --callers <n>   calls under way at a time (64)
  --rounds <n>    measured rounds (3)
  --out <file>    where the result goes (bench/results/operations.json)`;

const KINDS = ['place', 'settle', 'rollback'] as const;
type Kind = (typeof KINDS)[number];

interface Measured {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** @returns 1 if a callback was not answered 200. @throws SettingsError */
export async function runOperations(args: readonly string[]): Promise<number> {
  const defaults = { bets: 4_000, callers: 64, rounds: 3 };
  const { numbers, resultFile, help } = numbersOf(args, 'operations', defaults);
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using servers = await startServers();
  const secret = servers.serviceSecret;
  const service = createService({ baseUrl: servers.gateway.url, secret, retryScale: 0 });
  const mistakes: string[] = [];
  const placed: string[] = [];
  const calls: Readonly<Record<Kind, (at: number) => Promise<void>>> = {
    place: async (at) => {
      const player = servers.players[at % servers.players.length];
      if (player === undefined) throw new Error('there are no players');
      const sent = await service.place({ ...player, amount: '1' });
      if (sent.kind === 'accepted') placed[at] = sent.transactionId;
      else mistakes.push(`a place is ${sent.kind}`);
    },
    settle: async (at) => {
      const sent = await service.settle(placed[at] ?? '', { amount: '2', resultType: 'won' });
      if (sent.kind !== 'confirmed') mistakes.push(`a settle is ${sent.kind}`);
    },
    rollback: async (at) => {
      const sent = await service.rollback(placed[at] ?? '');
      if (sent.kind !== 'confirmed') mistakes.push(`a rollback is ${sent.kind}`);
    },
  };
  const measured: Record<Kind, Measured[]> = { place: [], settle: [], rollback: [] };
  // The first round is the warm-up.
  for (let round = 0; round <= numbers.rounds; round += 1) {
    for (const kind of KINDS) {
      const figures = await timed(numbers.bets, numbers.callers, calls[kind]);
      if (round > 0) measured[kind].push(figures);
      console.log(`${round === 0 ? 'warm-up' : `round ${round}`}, ${kind}: ${textOf(figures)}`);
      // Work that goes on after the answers must not count for the next measurement.
      await sleep(500);
    }
  }
  await service.close();
  const figures = {
    place: middle(measured.place),
    settle: middle(measured.settle),
    rollback: middle(measured.rollback),
  };
  const { place, settle, rollback } = figures;
  return await report(resultFile, {
    benchmark: 'operations',
    settings: { ...numbers, isPinned: servers.isPinned },
    targets: [],
    figures: {
      ...figures,
      settlesAPlace: hundredths(settle.perSecond / place.perSecond),
      rollbacksAPlace: hundredths(rollback.perSecond / place.perSecond),
    },
    mistakes,
  });
}

async function timed(
  count: number,
  callers: number,
  call: (at: number) => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  let next = 0;
  const caller = async () => {
    while (next < count) {
      const at = next;
      next += 1;
      const sentAtMs = performance.now();
      await call(at);
      times.push(performance.now() - sentAtMs);
    }
  };
  const startedAtMs = performance.now();
  await Promise.all(Array.from({ length: callers }, caller));
  const elapsedMs = performance.now() - startedAtMs;
  const sorted = ascending(times);
  return {
    perSecond: Math.round((1_000 * count) / elapsedMs),
    p50Ms: tenths(percentile(sorted, 0.5)),
    p99Ms: tenths(percentile(sorted, 0.99)),
  };
}

function middle(all: readonly Measured[]): Measured {
  return {
    perSecond: median(all.map((one) => one.perSecond)),
    p50Ms: median(all.map((one) => one.p50Ms)),
    p99Ms: median(all.map((one) => one.p99Ms)),
  };
}

function textOf({ perSecond, p50Ms, p99Ms }: Measured): string {
  return `${perSecond}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`;
}
