import {
  type BetPlan,
  CONNECTION_FAULTS,
  type Fault,
  type FaultPlan,
  type Layout,
  OPERATORS,
  type Trigger,
} from './plan.ts';
import type { Random } from './random.ts';

type Draw = (random: Random, process: number) => Fault;

const LINK = ['freeze', 'cut', 'reset'] as const;

/** Shorter than the service waits for an answer, or much longer. */
const awhile = (random: Random) =>
  random.chance(0.5) ? random.whole(100, 900) : random.whole(900, 2_800);

const FAULTS: readonly (readonly [weight: number, draw: Draw])[] = [
  [9, connection],
  [2, (random, process) => link(random, 'postgres', process)],
  [1, (random, process) => link(random, 'redis', process)],
  [1, () => ({ kind: 'flushRedis' })],
  [4, (random, process) => ({ kind: 'stop', process, ms: awhile(random) })],
  [1, (random, process) => ({ kind: 'kill', process, downMs: random.whole(0, 300) })],
  [2, (random) => operators(random, 'maintenance', 600)],
  [2, (random) => operators(random, 'walletDown', 100)],
];

function connection(random: Random, process: number): Fault {
  const how = random.pick(CONNECTION_FAULTS);
  return { kind: 'connection', process, how, ms: awhile(random) };
}

function link(random: Random, kind: 'postgres' | 'redis', process: number): Fault {
  return { kind, process, how: random.pick(LINK), ms: random.whole(100, 2_000) };
}

function operators(random: Random, kind: 'maintenance' | 'walletDown', msMin: number): Fault {
  return { kind, operator: random.pick(OPERATORS), ms: random.whole(msMin, 2_000) };
}

/** A lease lasts 15 s, so only a small share of the histories may wait for one to end. */
const LONG_SHARE = 0.02;
const KILL_SHARE = 0.25;

/** Faults of everything around the wallets. */
export function writeFaults(
  random: Random,
  bets: readonly BetPlan[],
  layout: Layout,
  spanMs: number,
): readonly FaultPlan[] {
  const count = random.weighted([
    [4, 0],
    [4, 1],
    [3, 2],
    [2, 3],
    [1, 5],
  ]);
  const faults: FaultPlan[] = [];
  for (let n = 0; n < count; n += 1) {
    const process = random.whole(0, 3);
    let fault = random.weighted(FAULTS)(random, process);
    // A killed process leaves leases that must run out, which takes their whole time: most kills become stops.
    if (fault.kind === 'kill' && !random.chance(KILL_SHARE)) {
      fault = { kind: 'stop', process, ms: awhile(random) };
    }
    faults.push({ id: `x${n}`, trigger: triggerOf(random, fault, bets, spanMs), fault });
  }
  if (random.chance(LONG_SHARE) && layout !== 'one') {
    const fault: Fault = { kind: 'stop', process: random.whole(0, 3), ms: 16_000 };
    faults.push({ id: `x${count}`, trigger: triggerOf(random, fault, bets, spanMs), fault });
  }
  return faults;
}

/** Most faults are aimed at a bet: a fault that hits nothing shows nothing. */
function triggerOf(
  random: Random,
  fault: Fault,
  bets: readonly BetPlan[],
  spanMs: number,
): Trigger {
  const at: Trigger = { kind: 'at', ms: random.whole(0, spanMs) };
  if (bets.length === 0) return at;
  const bet = random.pick(bets).id;
  const nth = random.whole(0, 9);
  const early = random.whole(0, 3);
  switch (fault.kind) {
    case 'connection':
      return random.chance(0.9) ? { kind: 'statement', bet, nth } : at;
    case 'stop':
    case 'kill':
      return random.weighted<Trigger>([
        [4, { kind: 'wallet', bet, nth: early }],
        [4, { kind: 'statement', bet, nth }],
        [2, at],
      ]);
    case 'postgres':
    case 'redis':
      return random.weighted<Trigger>([
        [3, { kind: 'wallet', bet, nth: early }],
        [3, { kind: 'statement', bet, nth }],
        [4, at],
      ]);
    default:
      return random.chance(0.5) ? { kind: 'wallet', bet, nth: early } : at;
  }
}
