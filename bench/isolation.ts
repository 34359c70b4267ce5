import { BAD_IDS, type BadId, Neighbours } from './isolation/neighbours.ts';
import { Load } from './open-loop/load.ts';
import { type Busy, watchBusy } from './support/busy.ts';
import { hundredths, median, spread } from './support/figures.ts';
import { newSecret, writeOperators } from './support/operators.ts';
import { openSessions } from './support/players.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';
import { type Surroundings, startSurroundings } from './support/surroundings.ts';

const HELP = `npm run bench -- isolation [options]

Whether operators affect each other: 50 of them in one gateway process, alternately with and without trouble
from four bad ones. One never answers, with 100 calls under way; one sends endless informational answers;
20,000 deliveries of one are sent at 160 a second; one issues bonuses, 100 at once, as often as it may. Measured
for the others: how long their places take at a constant rate, and how many a second they can place. At the end
once more with each of the four alone, which shows whose fault it is.

  --operators <n>   how many, including the bad ones (50)
  --backlog <n>     deliveries that wait for one of the bad ones (20000)
  --rate <n>        places a second of the others while their latency is measured (600)
  --rounds <n>      rounds with and without (3)
  --seconds <n>     how long each measurement of a round takes (5)
  --out <file>      where the result goes (bench/results/isolation.json)`;

const CONNECTIONS = 64;
/** The breaker never opens, so a hanging wallet keeps hanging. */
const NO_BREAKER = { minRequests: 1_000_000 };

/** @returns 1 if a bet was lost or doubled. @throws SettingsError */
export async function runIsolation(args: readonly string[]): Promise<number> {
  const defaults = { operators: 50, backlog: 20_000, rate: 600, rounds: 3, seconds: 5 };
  const { numbers, resultFile, help } = numbersOf(args, 'isolation', defaults);
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using around = await startSurroundings();
  await using scene = await openScene(around, numbers);
  const { neighbours, load, gateway } = scene;
  const pace = await load.maximum(gateway, numbers.seconds, CONNECTIONS);
  const phases = [{ perSecond: numbers.rate, seconds: numbers.seconds }];
  const measure = async (): Promise<Figures> => {
    const busyOf = watchBusy();
    const { phases: results } = await load.open(gateway, phases);
    const [result] = results;
    if (result === undefined) throw new Error('nothing was sent');
    const perSecond = await load.closed(gateway, numbers.seconds, CONNECTIONS, pace);
    const { p50Ms, p99Ms } = result;
    return { p50Ms, p99Ms, perSecond: Math.round(perSecond), busyPercent: busyOf() };
  };
  // A load generator first starts and signs its requests, some seconds longer than it measures.
  const beside = (who: readonly BadId[]) =>
    neighbours.trouble(who, 2 * numbers.seconds + 6, measure);
  const rounds: Round[] = [];
  for (let n = 1; n <= numbers.rounds; n += 1) {
    const round = { calm: await measure(), troubled: await beside(BAD_IDS) };
    rounds.push(round);
    console.log(`round ${n}: ${JSON.stringify(round)}`);
  }
  const besideOne = await inTurn(beside);
  const waiting = await neighbours.waiting();
  console.log(`${waiting} deliveries still wait, ${neighbours.issued} bonuses were issued`);
  const p99Ratios = rounds.map(({ calm, troubled }) => hundredths(troubled.p99Ms / calm.p99Ms));
  const shares = rounds.map(({ calm, troubled }) =>
    hundredths(troubled.perSecond / calm.perSecond),
  );
  return await report(resultFile, {
    benchmark: 'isolation',
    settings: { ...numbers, isPinned: around.isPinned },
    targets: [
      { what: 'p99 of the others, times', value: median(p99Ratios), atMost: 1.2 },
      {
        what: 'throughput of the others, of what it is alone',
        value: median(shares),
        atLeast: 0.95,
      },
    ],
    figures: {
      ...{ p99Ratios, shares },
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
        backlogged: { wallet: { baseUrl: `${bad.url}/slow` } },
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
