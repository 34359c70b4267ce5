import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { prune } from '../src/store/prune/prune.ts';
import { type Servers, startServers } from './callbacks/servers.ts';
import { fillJournal, LAST_MONTH_EVERY } from './growth/fill.ts';
import { type PhaseResult, SLICE_MS } from './open-loop/job.ts';
import { Load } from './open-loop/load.ts';
import { hundredths, median, spread, tenths } from './support/figures.ts';
import { largeJournal } from './support/large-journal.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';

const HELP = `npm run bench -- growth [options]

Places at a constant rate, with an empty journal and with a full one in which every fifth bet is of the previous
month; then that month is pruned while places go on, and the longest wait is measured. PostgreSQL is set up for
a large journal throughout, as in docs/databases.md.
test/process/growth.test.ts checks that no statement scans the filled tables.

  --bets <n>      settled bets in the journal, four operations and attempts each (1000000)
  --rate <n>      places a second (500)
  --rounds <n>    measured rounds of each (2)
  --seconds <n>   how long a round takes (6)
  --buffers <n>   megabytes that PostgreSQL keeps in its own memory, a quarter of the machine's (4096)
  --out <file>    where the result goes (bench/results/growth.json)`;

const WARM_UP_BETS = 10_000;
const CONNECTIONS = 64;
const BEFORE_PRUNE_MS = 3_000;
/** Places are sent at least this long, and longer if there is more to prune: pruning must end first. */
const PRUNE_SECONDS = 40;
const PRUNED_PER_SECOND = 3_000;

/** @returns 1 if a bet was lost or doubled. @throws SettingsError */
export async function runGrowth(args: readonly string[]): Promise<number> {
  const defaults = { bets: 1_000_000, rate: 500, rounds: 2, seconds: 6, buffers: 4_096 };
  const { numbers, resultFile, help } = numbersOf(args, 'growth', defaults);
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using servers = await startServers({ postgres: largeJournal(numbers.buffers) });
  const load = new Load(servers);
  await load.warmUp(servers.gateway, WARM_UP_BETS, CONNECTIONS);
  const measure = async (what: string) => {
    const rounds: PhaseResult[] = [];
    for (let n = 0; n < numbers.rounds; n += 1) {
      const { phases } = await load.open(servers.gateway, [
        { perSecond: numbers.rate, seconds: numbers.seconds },
      ]);
      rounds.push(...phases);
    }
    const [p50Ms, p99Ms] = [rounds.map((one) => one.p50Ms), rounds.map((one) => one.p99Ms)];
    console.log(`${what}: p50 ${p50Ms.join(', ')} ms, p99 ${p99Ms.join(', ')} ms`);
    return { p50Ms: spread(p50Ms), p99Ms: spread(p99Ms) };
  };
  const empty = await measure('empty');
  const filledMs = await fill(servers, numbers.bets);
  console.log(`filled with ${numbers.bets} bets in ${filledMs} ms`);
  const full = await measure(`${numbers.bets} bets`);
  const pruned = await whilePruned(servers, load, numbers);
  console.log(`pruned ${pruned.bets} bets in ${pruned.elapsedMs} ms; ${JSON.stringify(pruned)}`);
  return await report(resultFile, {
    benchmark: 'growth',
    settings: { ...numbers, isPinned: servers.isPinned },
    targets: [
      {
        what: 'p50 of a place, times that of an empty journal',
        value: hundredths(full.p50Ms.median / empty.p50Ms.median),
        atMost: 1.15,
      },
      {
        what: 'longest place while a month was pruned, ms',
        value: pruned.longestMs,
        atMost: 1_000,
      },
    ],
    figures: { empty, full, filledMs, pruned },
    mistakes: await load.mistakes(),
  });
}

async function fill({ databaseUrl }: Servers, bets: number): Promise<number> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const startedAtMs = performance.now();
  try {
    await fillJournal(client, bets);
  } finally {
    await client.end();
  }
  return Math.round(performance.now() - startedAtMs);
}

async function whilePruned(
  { databaseUrl, gateway }: Servers,
  load: Load,
  { rate: perSecond, bets }: { readonly rate: number; readonly bets: number },
) {
  const seconds = PRUNE_SECONDS + Math.ceil(bets / LAST_MONTH_EVERY / PRUNED_PER_SECOND);
  const sending = load.open(gateway, [{ perSecond, seconds }]);
  await sleep(BEFORE_PRUNE_MS);
  const now = new Date();
  const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  const startedAtMs = performance.now();
  const pruned = await prune(databaseUrl, {
    before,
    isDryRun: false,
    log: (line) => console.log(line),
  });
  const elapsedMs = Math.round(performance.now() - startedAtMs);
  const refused = pruned.months.filter(({ result }) => result === 'refused');
  if (refused.length > 0) throw new Error(`not pruned: ${JSON.stringify(refused)}`);
  if (BEFORE_PRUNE_MS + elapsedMs > 1_000 * seconds) {
    throw new Error(`pruning took ${elapsedMs} ms, longer than places were sent beside it`);
  }
  const { phases } = await sending;
  const [result] = phases;
  if (result === undefined) throw new Error('nothing was sent');
  const slices = result.slices.map((slice) => slice.p50Ms);
  return {
    elapsedMs,
    bets: pruned.bets,
    longestMs: tenths(result.maxMs),
    p99Ms: tenths(result.p99Ms),
    worstTenthP50Ms: tenths(Math.max(...slices)),
    usualP50Ms: tenths(median(slices.slice(0, BEFORE_PRUNE_MS / SLICE_MS))),
    notAccepted: result.sent - (result.answers['200'] ?? 0),
  };
}
