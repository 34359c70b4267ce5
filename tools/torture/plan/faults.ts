import {
  type BetPlan,
  COMMIT_FAULTS,
  type Fault,
  type FaultPlan,
  type Layout,
  OPERATORS,
  type Trigger,
} from './plan.ts';
import type { Random } from './random.ts';

type Draw = (random: Random, process: number) => Fault;

const LINK = ['freeze', 'cut', 'reset', 'slow'] as const;
const CONNECTION = ['holdRequest', 'holdAnswer', 'loseRequest', 'loseAnswer'] as const;
const BROKEN = COMMIT_FAULTS.filter((fault) => fault !== 'holdCommit');
const STATEMENT = [...CONNECTION, ...BROKEN] as const;

/** Shorter than the service waits for an answer, or much longer. */
const awhile = (random: Random) =>
  random.chance(0.5) ? random.whole(100, 900) : random.whole(900, 2_800);

const FAULTS: readonly (readonly [weight: number, draw: Draw])[] = [
  [
    9,
    (random, process) => ({
      kind: 'connection',
      process,
      how: random.pick(STATEMENT),
      ms: awhile(random),
    }),
  ],
  [
    2,
    (random, process) => ({
      kind: 'postgres',
      process,
      how: random.pick(LINK),
      ms: random.whole(100, 1_800),
    }),
  ],
  [
    1,
    (random, process) => ({
      kind: 'redis',
      process,
      how: random.pick(LINK),
      ms: random.whole(100, 2_500),
    }),
  ],
  [1, () => ({ kind: 'flushRedis' })],
  [4, (random, process) => ({ kind: 'stop', process, ms: awhile(random) })],
  [1, (random, process) => ({ kind: 'kill', process, downMs: random.whole(0, 300) })],
  [
    2,
    (random) => ({
      kind: 'maintenance',
      operator: random.pick(OPERATORS),
      ms: random.whole(600, 2_500),
    }),
  ],
  [1, () => ({ kind: 'reload' })],
  [
    3,
    (random) => ({
      kind: 'breaker',
      operator: random.pick(OPERATORS),
      ms: random.whole(100, 1_500),
    }),
  ],
  [
    2,
    (random) => ({
      kind: 'walletDown',
      operator: random.pick(OPERATORS),
      ms: random.whole(100, 1_500),
    }),
  ],
];

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
