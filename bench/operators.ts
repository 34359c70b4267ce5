import { setTimeout as sleep } from 'node:timers/promises';
import { Load } from './open-loop/load.ts';
import { hundredths, median, spread, tenths } from './support/figures.ts';
import { residentBytes } from './support/memory.ts';
import { type OperatorsFolder, writeOperators } from './support/operators.ts';
import { openSessions } from './support/players.ts';
import { report } from './support/result.ts';
import { numbersOf } from './support/settings.ts';
import { type GatewaySide, type Surroundings, startSurroundings } from './support/surroundings.ts';

const HELP = `npm run bench -- operators [options]

A gateway with very many operators compared with one that has two: how long it takes to accept callbacks, how
much memory it uses then, and its processor time per place at the same constant rate, all operators in turn.

  --operators <n>   how many operators (1000)
  --starts <n>      how often each is started (3)
  --rate <n>        places a second (800)
  --rounds <n>      measured rounds of each (8)
  --seconds <n>     how long a round takes (6)
  --out <file>      where the result goes (bench/results/operators.json)`;

const FEW = 2;
/** For each gateway, so that only the number of operators differs. */
const PLAYERS_MIN = 1_000;
const SETTLE_MS = 3_000;
const WARM_UP_BETS = 8_000;
const CONNECTIONS = 64;
/** Sessions are opened for this many operators at a time, so that a new process is not flooded. */
const OPERATORS_AT_ONCE = 20;

/** @returns 1 if a bet was lost or doubled. @throws SettingsError */
export async function runOperators(args: readonly string[]): Promise<number> {
  const defaults = { operators: 1_000, starts: 3, rate: 800, rounds: 8, seconds: 6 };
  const { numbers, resultFile, help } = numbersOf(args, 'operators', defaults);
  if (help) {
    console.log(HELP);
    return 0;
  }
  await using around = await startSurroundings();
  const { walletUrl } = around;
  await using fewFolder = await writeOperators(idsOf(FEW), { walletUrl });
  await using manyFolder = await writeOperators(idsOf(numbers.operators), { walletUrl });
  // Applies the migrations before anything is timed.
  await (await around.startGateway({ configFolder: fewFolder.folder })).process.stop();
  const few = await started(around, fewFolder, numbers.starts);
  const many = await started(around, manyFolder, numbers.starts);
  const fewLoad = await loadOf(around, few.gateway, fewFolder);
  const manyLoad = await loadOf(around, many.gateway, manyFolder);

  const rounds = await inTurn(numbers, { few: few.gateway, many: many.gateway, fewLoad, manyLoad });
  const after = [
    await residentBytes(few.gateway.process.pid),
    await residentBytes(many.gateway.process.pid),
  ];
  const ratio = median(rounds.map((one) => one.manyUs / one.fewUs));
  const [fewStartMs, manyStartMs] = [spread(few.startsMs), spread(many.startsMs)];
  return await report(resultFile, {
    benchmark: 'operators',
    settings: { ...numbers, isPinned: around.isPinned },
    targets: [
      { what: 'processor time of a place, times', value: hundredths(ratio), atMost: 1.05 },
      {
        what: 'longer until it takes callbacks, ms',
        value: manyStartMs.median - fewStartMs.median,
        atMost: 1_500,
      },
      {
        what: 'more memory after the start, MB',
        value: megabytes(median(many.bytes) - median(few.bytes)),
        atMost: 60,
      },
    ],
    figures: {
      few: {
        startMs: fewStartMs,
        megabytes: megabytes(median(few.bytes)),
        placeUs: spread(rounds.map((one) => one.fewUs)),
      },
      many: {
        startMs: manyStartMs,
        megabytes: megabytes(median(many.bytes)),
        placeUs: spread(rounds.map((one) => one.manyUs)),
      },
      afterPlacesMegabytes: after.map((bytes) => megabytes(bytes ?? 0)),
    },
    mistakes: [...(await fewLoad.mistakes()), ...(await manyLoad.mistakes())],
  });
}

/** Processor time of a place, on one gateway after the other. */
async function inTurn(
  numbers: { readonly rate: number; readonly rounds: number; readonly seconds: number },
  of: { few: GatewaySide; many: GatewaySide; fewLoad: Load; manyLoad: Load },
) {
  const phases = [{ perSecond: numbers.rate, seconds: numbers.seconds }];
  const cpuUs = async (load: Load, side: GatewaySide): Promise<number> => {
    const { cpuMs, good } = await load.open(side, phases);
    if (cpuMs === undefined) throw new Error('this system does not tell processor times');
    return tenths((1000 * cpuMs) / good.length);
  };
  const rounds: { readonly fewUs: number; readonly manyUs: number }[] = [];
  for (let n = 1; n <= numbers.rounds; n += 1) {
    const fewUs = await cpuUs(of.fewLoad, of.few);
    const manyUs = await cpuUs(of.manyLoad, of.many);
    rounds.push({ fewUs, manyUs });
    console.log(`round ${n}: ${fewUs} us a place with few operators, ${manyUs} with many`);
  }
  return rounds;
}

function idsOf(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `op-${n + 1}`);
}

/** Starts it this many times; the last one keeps running. */
async function started(
  { startGateway }: Surroundings,
  { folder }: OperatorsFolder,
  starts: number,
) {
  const startsMs: number[] = [];
  const bytes: number[] = [];
  for (;;) {
    const gateway = await startGateway({ configFolder: folder });
    startsMs.push(Math.round(gateway.startMs));
    await sleep(SETTLE_MS);
    bytes.push((await residentBytes(gateway.process.pid)) ?? 0);
    console.log(`takes callbacks after ${startsMs.at(-1)} ms, ${megabytes(bytes.at(-1) ?? 0)} MB`);
    if (startsMs.length === starts) return { gateway, startsMs, bytes };
    await gateway.process.stop();
  }
}

/** Load by players of all operators, warmed up. */
async function loadOf(
  { databaseUrl, walletUrl }: Surroundings,
  gateway: GatewaySide,
  { access, serviceSecret }: OperatorsFolder,
): Promise<Load> {
  const each = Math.ceil(PLAYERS_MIN / access.size);
  const operators = [...access.values()];
  const players = [];
  for (let at = 0; at < operators.length; at += OPERATORS_AT_ONCE) {
    const some = operators.slice(at, at + OPERATORS_AT_ONCE);
    players.push(...(await Promise.all(some.map((one) => openSessions(gateway.url, one, each)))));
  }
  const load = new Load({ databaseUrl, walletUrl, players: players.flat(), serviceSecret });
  await load.warmUp(gateway, WARM_UP_BETS, CONNECTIONS);
  return load;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
