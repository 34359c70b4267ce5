import { BAD_IDS, type BadId, Neighbours } from './isolation/neighbours.ts';
import { Load } from './open-loop/load.ts';
import { type Busy, watchBusy } from './support/busy.ts';
import { hundredths, median, spread } from './support/figures.ts';
import { newSecret, writeOperators } from './support/operators.ts';
import { openSessions } from './support/players.ts';
import { report, type Target } from './support/result.ts';
import { numbersOf } from './support/settings.ts';
import { type Surroundings, startSurroundings } from './support/surroundings.ts';

const HELP = `npm run bench -- isolation [options]

Whether operators affect each other: 50 of them in one gateway process, alternately with and without trouble
from four bad ones. One never answers, with 100 calls under way; one sends endless informational answers; one has
a backlog that is delivered; one issues bonuses, 100 at once, as often as it may. Measured for the others: how
long their places take at a constant rate, and how many a second they can place. Each round also measures them
beside the hanging one and beside the backlog alone, and the end beside each of the four, which shows whose fault
it is.

  --operators <n>   how many, including the bad ones (50)
  --backlog <n>     deliveries that wait for one of the bad ones (100000)
  --rate <n>        places a second of the others while their latency is measured (600)
  --rounds <n>      rounds with and without (3)
  --seconds <n>     how long each measurement of a round takes (5)
  --out <file>      where the result goes (bench/results/isolation.json)`;

const CONNECTIONS = 64;
/** Unmeasured load before: deliveries have yielded by then. */
const LEAD_IN_SECONDS = 5;
/** The breaker never opens, so a hanging wallet keeps hanging. */
const NO_BREAKER = { minRequests: 1_000_000 };

/** @returns 1 if a bet was lost or doubled. @throws SettingsError */
export async function runIsolation(args: readonly string[]): Promise<number> {
  const defaults = { operators: 50, backlog: 100_000, rate: 600, rounds: 3, seconds: 5 };
  const { numbers, resultFile, help } = numbersOf(args, 'isolation', defaults);
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using around = await startSurroundings();
  await using scene = await openScene(around, numbers);
  const { neighbours, load, gateway } = scene;
  const pace = await load.maximum(gateway, numbers.seconds, CONNECTIONS);
  const phases = [LEAD_IN_SECONDS, numbers.seconds].map((seconds) => ({
    ...{ perSecond: numbers.rate, seconds },
  }));
  const measure = async (): Promise<Figures> => {
    const busyOf = watchBusy();
    const { phases: results } = await load.open(gateway, phases);
    const drained = await neighbours.deliveredWithin(numbers.seconds);
    const drainedPerSecond = Math.round(drained / numbers.seconds);
    const result = results.at(-1);
    if (result === undefined) throw new Error('nothing was sent');
    const perSecond = await load.closed(gateway, numbers.seconds, CONNECTIONS, pace);
    const { p50Ms, p99Ms } = result;
    const figures = { p50Ms, p99Ms, perSecond: Math.round(perSecond), drainedPerSecond };
    return { ...figures, busyPercent: busyOf() };
  };
  // A load generator first starts and signs its requests, some seconds longer than it measures.
  const beside = (who: readonly BadId[]) =>
    neighbours.trouble(who, LEAD_IN_SECONDS + 2 * numbers.seconds + 6, measure);
  const rounds: Round[] = [];
  for (let n = 1; n <= numbers.rounds; n += 1) {
    const [calm, troubled] = [await measure(), await beside(BAD_IDS)];
    const [hanging, draining] = [await beside(['hanging']), await beside(['backlogged'])];
    const round = { calm, troubled, hanging, draining };
    rounds.push(round);
    console.log(`round ${n}: ${JSON.stringify(round)}`);
  }
  const besideOne = await inTurn(beside);
  const waiting = await neighbours.waiting();
  console.log(`${waiting} deliveries still wait, ${neighbours.issued} bonuses were issued`);
  const ratios = ratiosOf(rounds);
  return await report(resultFile, {
    benchmark: 'isolation',
    settings: { ...numbers, isPinned: around.isPinned },
    targets: targetsOf(ratios),
    figures: {
      ...ratios,
      alone: summaryOf(rounds.map(({ calm }) => calm)),
      beside: summaryOf(rounds.map(({ troubled }) => troubled)),
      besideOne,
      ...{ delivered: numbers.backlog - waiting, issued: neighbours.issued },
    },
    mistakes: await load.mistakes(),
  });
}

/** The other operators' figures in one measurement. */
interface Figures {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly perSecond: number;
  /** Of the backlog, beside the constant rate. */
  readonly drainedPerSecond: number;
  readonly busyPercent: Busy;
}

/** Each bad neighbour without the others. */
async function inTurn(beside: (who: readonly BadId[]) => Promise<Figures>) {
  const measured: Partial<Record<BadId, Figures>> = {};
  for (const id of BAD_IDS) {
    measured[id] = await beside([id]);
    console.log(`beside ${id} alone: ${JSON.stringify(measured[id])}`);
  }
  return measured;
}

interface Round {
  readonly calm: Figures;
  readonly troubled: Figures;
  readonly hanging: Figures;
  readonly draining: Figures;
}

/** Each round's figures beside bad neighbours, of its own without them. */
function ratiosOf(rounds: readonly Round[]) {
  const p99Of = (who: 'troubled' | 'hanging' | 'draining') =>
    rounds.map((round) => hundredths(round[who].p99Ms / round.calm.p99Ms));
  return {
    p99Ratios: p99Of('troubled'),
    hangingP99Ratios: p99Of('hanging'),
    drainingP99Ratios: p99Of('draining'),
    drainedPerSecond: rounds.map(({ draining }) => draining.drainedPerSecond),
    shares: rounds.map(({ calm, troubled }) => hundredths(troubled.perSecond / calm.perSecond)),
  };
}

function targetsOf(ratios: ReturnType<typeof ratiosOf>): readonly Target[] {
  const { p99Ratios, hangingP99Ratios, drainingP99Ratios, drainedPerSecond, shares } = ratios;
  return [
    { what: 'p99 of the others, times', value: median(p99Ratios), atMost: 1.2 },
    { what: 'p99 beside 100 hanging calls, times', value: median(hangingP99Ratios), atMost: 1.3 },
    { what: 'p99 beside a drain, times', value: median(drainingP99Ratios), atMost: 1.5 },
    { what: 'drained a second beside them', value: median(drainedPerSecond), atLeast: 34 },
    {
      what: 'throughput of the others, of what it is alone',
      value: median(shares),
      atLeast: 0.95,
    },
  ];
}

function summaryOf(all: readonly Figures[]) {
  return {
    p50Ms: spread(all.map(({ p50Ms }) => p50Ms)),
    p99Ms: spread(all.map(({ p99Ms }) => p99Ms)),
    perSecond: spread(all.map(({ perSecond }) => perSecond)),
    busyPercent: {
      gateway: median(all.map(({ busyPercent }) => busyPercent.measured)),
      rest: median(all.map(({ busyPercent }) => busyPercent.rest)),
    },
  };
}

async function openScene(
  around: Surroundings,
  { operators, backlog }: { readonly operators: number; readonly backlog: number },
) {
  const { walletUrl, databaseUrl } = around;
  await using opened = new AsyncDisposableStack();
  const [adminToken, serviceSecret] = [newSecret(), newSecret()];
  const bad = await around.startServer('bench/isolation/bad-wallets.ts', []);
  const bonusApi = await around.startServer('bench/isolation/bonus-api.ts', [serviceSecret]);
  const { template } = await bonusApi.process.line((line) => typeof line.template === 'number');
  const healthy = Array.from({ length: operators - BAD_IDS.length }, (_, n) => `op-${n + 1}`);
  const folder = opened.use(
    await writeOperators([...healthy, ...BAD_IDS], {
      ...{ walletUrl, bonusApiUrl: bonusApi.url, serviceSecret },
      more: {
        hanging: { wallet: { baseUrl: `${bad.url}/hang`, breaker: NO_BREAKER } },
        endless: { wallet: { baseUrl: `${bad.url}/endless`, breaker: NO_BREAKER } },
        issuing: { bonuses: { sharedTemplates: [template] } },
      },
    }),
  );
  const gateway = await around.startGateway({
    configFolder: folder.folder,
    env: { ADMIN_TOKEN: adminToken },
  });
  const players = await Promise.all(
    healthy.flatMap((id) => {
      const access = folder.access.get(id);
      return access === undefined ? [] : [openSessions(gateway.url, access, 2)];
    }),
  );
  const load = new Load({ databaseUrl, walletUrl, players: players.flat(), serviceSecret });
  const neighbours = new Neighbours({
    ...{ gateway, load, databaseUrl, folder, adminToken, backlog },
    template: Number(template),
  });
  await neighbours.prepare();
  const kept = opened.move();
  return { neighbours, load, gateway, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}
