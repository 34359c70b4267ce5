import { BetWriter } from './bets.ts';
import {
  type BetPlan,
  CHARACTERS,
  COMMIT_FAULTS,
  type ConnectionFault,
  type FaultPlan,
  type Layout,
  OPERATORS,
  type Plan,
  type Step,
} from './plan.ts';
import type { Random } from './random.ts';

/** Writes a scene's bets and faults; the caller adds the seed. */
export type Scene = (random: Random, steps: number) => Pick<Plan, 'bets' | 'faults'>;

const NOT_ENOUGH_MONEY = 7;
const KEYED = OPERATORS.filter((id) => CHARACTERS[id].keyedOnRequestId);
const NOT_KEYED = OPERATORS.filter((id) => !CHARACTERS[id].keyedOnRequestId);
const QUEUEING = OPERATORS.filter((id) => CHARACTERS[id].settleOnFailure === 'queue');

/** Players without money crowd one operator, whose wallet declines them: the others must still play. */
const crowdOfDeclines: Scene = (random, steps) => {
  const operator = random.pick(OPERATORS);
  const bets: BetPlan[] = [];
  for (let index = 0; index < steps; index += 1) {
    const writer = new BetWriter(random, index, operator);
    writer.place();
    if (random.chance(0.75)) writer.fates.decline('place', 0, NOT_ENOUGH_MONEY);
    bets.push(writer.done(random.whole(0, 500)));
  }
  return { bets, faults: [] };
};

/** Statements about results are held until long after their callers were answered. */
const heldStatements: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  const faults: FaultPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 4); index += 1) {
    const writer = new BetWriter(random, index);
    writer.place();
    writer.settle('won', random.whole(0, 100));
    writer.settle('won', random.whole(0, 60));
    if (random.chance(0.5)) writer.unsettle(random.whole(0, 60));
    bets.push(writer.done(random.whole(0, 400)));
    const nth = random.whole(3, 9);
    faults.push(connectionFault(random, index, nth, random.whole(1_000, 2_600), ['holdRequest']));
  }
  return { bets, faults };
};

/** The outcome of a place is committed too late, and the service forgets to roll the bet back. */
const forgottenPlaces: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  const faults: FaultPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 4); index += 1) {
    const writer = new BetWriter(random, index);
    writer.place();
    bets.push(writer.done(random.whole(0, 600), { isForgotten: true }));
    const how: ConnectionFault[] = ['holdRequest', 'holdRequest', 'holdAnswer'];
    // Mostly the second statement that names the bet, which writes its outcome.
    const nth = random.chance(0.6) ? 1 : random.whole(0, 3);
    faults.push(connectionFault(random, index, nth, random.whole(800, 1_600), how));
  }
  return { bets, faults };
};

/** One replica is frozen with unread requests while the bets go on at the other. */
const frozenReplica: Scene = (random, steps) => {
  const stopAtMs = random.whole(300, 600);
  const bets: BetPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 3); index += 1) {
    const writer = new BetWriter(random, index);
    writer.place();
    writer.settle('won', stopAtMs + random.whole(0, 300));
    writer.settle('won', random.whole(0, 200));
    if (random.chance(0.5)) writer.unsettle(random.whole(0, 200));
    const bet = writer.done(0);
    // The first result goes to the replica that freezes, everything else to the other.
    const lived = bet.steps.map((step, n): Step => ({ ...step, via: n === 1 ? 0 : 1, copies: [] }));
    bets.push({ ...bet, steps: lived });
  }
  const ms = random.whole(2_500, 4_000);
  const fault = { kind: 'stop', process: 0, ms } as const;
  return { bets, faults: [{ id: 'x0', trigger: { kind: 'at', ms: stopAtMs }, fault }] };
};

/** A rollback while Redis is away, then a copy of its place while PostgreSQL is away. */
const staleAnswers: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 3); index += 1) {
    const writer = new BetWriter(random, index);
    writer.place();
    writer.step({ kind: 'rollback', errorCode: 50 }, { pauseMs: random.whole(350, 700) });
    const bet = writer.done(random.whole(0, 100));
    const lived = bet.steps.map((step, n): Step => {
      const afterMs = random.whole(1_900, 2_600);
      const replay = { id: `${step.id}.c0`, kind: 'replay', afterMs, via: 0 } as const;
      return { ...step, via: 0, copies: n === 0 ? [replay] : [] };
    });
    bets.push({ ...bet, steps: lived });
  }
  const redis = {
    kind: 'redis',
    process: 0,
    how: random.pick(['freeze', 'cut'] as const),
    ms: 900,
  } as const;
  const postgres = { kind: 'postgres', process: 0, how: 'cut', ms: 1_600 } as const;
  return {
    bets,
    faults: [
      { id: 'x0', trigger: { kind: 'at', ms: 300 }, fault: redis },
      { id: 'x1', trigger: { kind: 'at', ms: 1_700 }, fault: postgres },
    ],
  };
};

/** Each result is lost and replaced by another; then the lost one takes effect. */
const lateLandings: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 3); index += 1) {
    const writer = new BetWriter(random, index, random.pick(NOT_KEYED));
    writer.place();
    writer.settle('won', random.whole(0, 100));
    writer.fates.late('settle', 0);
    if (random.chance(0.7)) writer.settle('won', random.whole(0, 100));
    else writer.unsettle(random.whole(0, 100));
    bets.push(writer.done(random.whole(0, 400)));
  }
  return { bets, faults: [] };
};

/** A result's commit waits a little while a rollback of its bet arrives; then comes a copy of the place. */
const staleReads: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  const faults: FaultPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 3); index += 1) {
    const writer = new BetWriter(random, index);
    writer.place();
    writer.settle('won', random.whole(20, 60));
    writer.step({ kind: 'rollback', errorCode: 50 }, { isAlongside: true, pauseMs: 60 });
    const bet = writer.done(random.whole(0, 300));
    const lived = bet.steps.map((step, n): Step => {
      const afterMs = random.whole(900, 1_500);
      const replay = { id: `${step.id}.c0`, kind: 'replay', afterMs, via: 0 } as const;
      return { ...step, via: 0, copies: n === 0 ? [replay] : [] };
    });
    bets.push({ ...bet, steps: lived });
    const nth = random.whole(3, 4);
    faults.push(connectionFault(random, index, nth, random.whole(250, 600), ['holdRequest']));
  }
  return { bets, faults };
};

/** Results are taken over while their operator accepts no calls, and are cancelled again. */
const calledOff: Scene = (random, steps) => {
  const operator = random.pick(QUEUEING);
  const bets: BetPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 4); index += 1) {
    const writer = new BetWriter(random, index, operator);
    writer.place();
    writer.settle('won', random.whole(600, 700));
    if (random.chance(0.5)) writer.settle('won', random.whole(0, 100));
    if (random.chance(0.75)) writer.unsettle(random.whole(0, 100));
    else writer.step({ kind: 'rollback', errorCode: 50 }, { pauseMs: random.whole(0, 100) });
    bets.push(writer.done(random.whole(0, 100)));
  }
  const fault = { kind: 'breaker', operator, ms: random.whole(1_200, 1_800) } as const;
  return { bets, faults: [{ id: 'x0', trigger: { kind: 'at', ms: 550 }, fault }] };
};

/** Updates that cannot be delivered at once, each followed by a later one. */
const overtakenUpdates: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 4); index += 1) {
    const writer = new BetWriter(random, index);
    writer.place();
    writer.update();
    writer.fates.missed('update', 0);
    if (random.chance(0.5)) writer.fates.missed('update', 1);
    writer.update();
    if (random.chance(0.4)) writer.update();
    bets.push(writer.done(random.whole(0, 400)));
  }
  return { bets, faults: [] };
};

/** Corrected results, some by cents only, are repeated under a new `requestId`. */
const corrections: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 4); index += 1) {
    const writer = new BetWriter(random, index, random.pick(KEYED));
    writer.place();
    for (let n = 0; n < 3; n += 1) writer.settle('won', random.whole(0, 100));
    const bet = writer.done(random.whole(0, 400));
    const lived = bet.steps.map((step): Step => {
      const again = { id: `${step.id}.c0`, kind: 'again', afterMs: 10, via: 1 } as const;
      return { ...step, copies: step.move.kind === 'settle' ? [again] : [] };
    });
    bets.push({ ...bet, steps: lived });
  }
  return { bets, faults: [] };
};

/** Each bet has a statement that is refused or interrupted at its commit. */
const brokenCommits: Scene = (random, steps) => {
  if (random.chance(0.4)) return lateOutcomes(random, steps);
  const bets: BetPlan[] = [];
  const faults: FaultPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 3); index += 1) {
    const writer = new BetWriter(random, index);
    writer.place();
    writer.settle('won', random.whole(0, 100));
    if (random.chance(0.6)) writer.settle('won', random.whole(0, 60));
    if (random.chance(0.3)) writer.unsettle(random.whole(0, 60));
    if (random.chance(0.3)) writer.rollback(random.chance(0.4));
    bets.push(writer.done(random.whole(0, 400), { isForgotten: random.chance(0.2) }));
    const ms = random.whole(200, 2_600);
    faults.push(connectionFault(random, index, random.whole(0, 7), ms, COMMIT_FAULTS));
  }
  return { bets, faults };
};

/**
 * The last outcome of each bet is committed late but in time, after the outcomes of other bets. A reader of the
 * journal that skipped it gets no later event of the bet that would repair this.
 */
const lateOutcomes: Scene = (random, steps) => {
  const bets: BetPlan[] = [];
  const faults: FaultPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 2); index += 1) {
    const writer = new BetWriter(random, index);
    writer.place();
    const isSettled = random.chance(0.4);
    if (isSettled) writer.settle('won', 0);
    const bet = writer.done(random.whole(0, 2_400));
    bets.push({ ...bet, steps: bet.steps.map((step) => ({ ...step, copies: [] })) });
    // Counted from 0: a place begins and writes its outcome; a settle reads, begins and writes its outcome.
    const nth = isSettled ? 4 : 1;
    faults.push(connectionFault(random, index, nth, random.whole(350, 700), ['holdCommit']));
  }
  return { bets, faults };
};

/** The secrets of the service and of a wallet are rotated while bets are played. */
const rotations: Scene = (random, steps) => {
  const operator = random.pick(OPERATORS);
  const bets: BetPlan[] = [];
  for (let index = 0; index < Math.ceil(steps / 3); index += 1) {
    const writer = new BetWriter(random, index, random.chance(0.7) ? operator : undefined);
    writer.place();
    writer.settle('won', random.whole(0, 2_000));
    if (random.chance(0.3)) writer.fates.uncertain('settle', 0, false);
    if (random.chance(0.5)) writer.unsettle(random.whole(0, 1_000));
    bets.push(writer.done(random.whole(0, 4_000)));
  }
  const wallet = { kind: 'rotateSecret', operator } as const;
  return {
    bets,
    faults: [
      { id: 'x0', trigger: { kind: 'at', ms: 100 }, fault: { kind: 'rotateServiceSecret' } },
      { id: 'x1', trigger: { kind: 'at', ms: 200 }, fault: wallet },
    ],
  };
};

function connectionFault(
  random: Random,
  bet: number,
  nth: number,
  ms: number,
  how: readonly ConnectionFault[],
): FaultPlan {
  const fault = { kind: 'connection', process: 0, how: random.pick(how), ms } as const;
  return { id: `x${bet}`, trigger: { kind: 'statement', bet: `b${bet}`, nth }, fault };
}

/** The share of histories that are scenes, and the weights of the scenes. */
export const SCENES_SHARE = 0.5;

export function scenesFor(layout: Layout): readonly (readonly [weight: number, scene: Scene])[] {
  return [
    [3, crowdOfDeclines],
    [3, heldStatements],
    [2, forgottenPlaces],
    [layout === 'replicas' ? 6 : 0, frozenReplica],
    [2, staleAnswers],
    [3, lateLandings],
    [3, staleReads],
    [3, calledOff],
    [2, overtakenUpdates],
    [2, corrections],
    [4, brokenCommits],
    [1, rotations],
  ];
}
