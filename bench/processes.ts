import { cpus } from 'node:os';
import { startServers } from './callbacks/servers.ts';
import { Load } from './open-loop/load.ts';
import { hundredths, median, spread } from './support/figures.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';
import type { GatewaySide } from './support/surroundings.ts';

const HELP = `npm run bench -- processes [options]

How many places a second one HTTP process serves (WORKERS=1), two that share a port (WORKERS=2) and two
replicas, in turn, each on all processors; then every bet is sent to both replicas at the same moment, and must
reach the wallet once. With two processors, which the databases, the wallet and the load generator need as well,
more processes gain nothing: use a machine with more.

  --rounds <n>    measured rounds of each (3)
  --seconds <n>   how long a round takes (5)
  --rate <n>      bets a second that are sent twice (400)
  --out <file>    where the result goes (bench/results/processes.json)`;

const CONNECTIONS = 64;
const KINDS = ['oneWorker', 'twoWorkers', 'twoReplicas'] as const;
type Kind = (typeof KINDS)[number];

/** @returns 1 if a bet was lost or doubled. @throws SettingsError */
export async function runProcesses(args: readonly string[]): Promise<number> {
  const defaults = { rounds: 3, seconds: 5, rate: 400 };
  const { numbers, resultFile, help } = numbersOf(args, 'processes', defaults);
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using servers = await startServers({ pinned: false });
  const { gateway } = servers;
  const other = await servers.startGateway({});
  const pair = await servers.startGateway({ WORKERS: '2' });
  const load = new Load(servers);
  const sides: Readonly<Record<Kind, readonly GatewaySide[]>> = {
    oneWorker: [gateway],
    twoWorkers: [pair],
    twoReplicas: [gateway, other],
  };
  const measured = await inTurn(load, sides, numbers);
  const twice = await load.openTwice(
    [gateway, other],
    [{ perSecond: numbers.rate, seconds: numbers.seconds }],
  );
  const answered = twice.map(({ good, phases }) => ({
    accepted: good.length,
    sent: phases[0]?.sent,
  }));
  console.log(`sent to both replicas at once: ${JSON.stringify(answered)}`);
  const mistakes = await load.mistakes();
  const of = (kind: Kind) => median(measured.get(kind) ?? []);
  return await report(resultFile, {
    benchmark: 'processes',
    settings: { ...numbers, processors: cpus().length },
    targets: [
      {
        what: 'two workers, of what one serves (there is no free processor for the second here)',
        value: hundredths(of('twoWorkers') / of('oneWorker')),
        atLeast: 1,
      },
      {
        what: 'two replicas, of what one serves',
        value: hundredths(of('twoReplicas') / of('oneWorker')),
        atLeast: 1,
      },
      { what: 'bets lost or doubled', value: mistakes.length, atMost: 0 },
    ],
    figures: {
      perSecond: Object.fromEntries(KINDS.map((kind) => [kind, spread(measured.get(kind) ?? [])])),
      sentTwice: answered,
    },
    mistakes,
  });
}

async function inTurn(
  load: Load,
  sides: Readonly<Record<Kind, readonly GatewaySide[]>>,
  numbers: { readonly rounds: number; readonly seconds: number },
): Promise<ReadonlyMap<Kind, readonly number[]>> {
  const paces = new Map<GatewaySide, number>();
  for (const side of new Set(Object.values(sides).flat())) {
    paces.set(side, await load.maximum(side, 1, CONNECTIONS));
  }
  const measured = new Map<Kind, number[]>(KINDS.map((kind) => [kind, []]));
  for (let n = 1; n <= numbers.rounds; n += 1) {
    for (const kind of KINDS) {
      const connections = CONNECTIONS / sides[kind].length;
      const each = sides[kind].map((side) =>
        load.closed(side, numbers.seconds, connections, paces.get(side) ?? 0),
      );
      const perSecond = (await Promise.all(each)).reduce((sum, one) => sum + one, 0);
      measured.get(kind)?.push(Math.round(perSecond));
    }
    const told = KINDS.map((kind) => `${kind} ${measured.get(kind)?.at(-1)}`);
    console.log(`round ${n}, places a second: ${told.join(', ')}`);
  }
  return measured;
}
