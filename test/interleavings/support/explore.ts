import type { Gates, Move } from './gates.ts';

/** Plays one order of steps. */
export interface Course {
  /** The next move; undefined if nothing can move, or if everything that could follow is played elsewhere. */
  next(gates: Gates): Move | undefined;
  readonly taken: readonly Move[];
  /** Whether everything that could follow equals another order. */
  readonly isKnown: boolean;
}

export interface Explored {
  /** The number of orders played to their end; no two are the same, apart from steps that do not interfere. */
  readonly orders: number;
  /** The findings, each with the order that shows it. */
  readonly failures: readonly { readonly why: string; readonly moves: readonly Move[] }[];
  /** Whether nothing was left out. */
  readonly isComplete: boolean;
}

export interface Exploring {
  /** How many orders are played at a time. */
  readonly lanes: number;
  /** Plays a course to its end. @returns what was wrong */
  readonly play: (lane: number, course: Course) => Promise<readonly string[]>;
  /** The exploration stops after this many orders. */
  readonly ordersMax: number;
}

/**
 * Leases, permits to send and repeated statements depend on real time: an order that took longer, because the
 * machine was busy, is played again.
 */
const REAL_TIME_IS_NEAR_MS = 1_900;

/** Where an order departs from earlier ones: its first steps, and the steps that need not follow. */
interface Branch {
  readonly prefix: readonly Move[];
  readonly asleep: readonly Move[];
}

/**
 * Plays every order of the steps, each from its beginning. Of orders that differ only in steps which cannot notice
 * each other (two reads, a read and a call) only one is played: a step that was tried first at a point sleeps in
 * the orders tried after it, until a step comes that interferes with it (sleep sets). Stops at the first failure.
 */
export async function explore({ lanes, play, ordersMax }: Exploring): Promise<Explored> {
  const open: Branch[] = [{ prefix: [], asleep: [] }];
  const failures: { why: string; moves: readonly Move[] }[] = [];
  const random = seeded();
  let [orders, playing] = [0, 0];
  const lane = async (index: number) => {
    while (orders < ordersMax && failures.length === 0) {
      // A random one: neighbours are alike, and there may not be time for all.
      const [branch] = open.splice(Math.floor(random() * open.length), 1);
      if (branch === undefined) {
        if (playing === 0) return;
        // The orders that are still being played may add more.
        await new Promise((resolve) => setTimeout(resolve, 1));
        continue;
      }
      playing += 1;
      const course = new BranchCourse(branch);
      const beganAtMs = performance.now();
      const found = await play(index, course).catch((error: unknown) => [String(error)]);
      playing -= 1;
      if (performance.now() - beganAtMs > REAL_TIME_IS_NEAR_MS) {
        open.push(branch);
        continue;
      }
      open.push(...course.branches);
      if (course.isKnown && found.length === 0) continue;
      orders += 1;
      for (const why of found) failures.push({ why, moves: course.taken });
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  return { orders, failures, isComplete: open.length === 0 && failures.length === 0 };
}

/** At least 0 and below 1; the same numbers every time. */
function seeded(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

class BranchCourse implements Course {
  readonly taken: Move[] = [];
  /** The other ways that could have been taken. */
  readonly branches: Branch[] = [];
  readonly #branch: Branch;
  #asleep: readonly Move[];
  isKnown = false;

  constructor(branch: Branch) {
    this.#branch = branch;
    this.#asleep = branch.asleep;
  }

  next({ moves }: Gates): Move | undefined {
    const due = this.#branch.prefix[this.taken.length];
    if (due !== undefined) {
      if (!moves.some((move) => isSame(move, due))) {
        const could = moves.map(textOf).join(', ');
        throw new Error(`the same steps led elsewhere: no "${textOf(due)}" among ${could}`);
      }
      this.taken.push(due);
      return due;
    }
    const awake = moves.filter((move) => !this.#asleep.some((other) => isSame(move, other)));
    const [first, ...others] = awake;
    if (first === undefined) {
      this.isKnown = moves.length > 0;
      return undefined;
    }
    for (const [index, other] of others.entries()) {
      const tried = [...this.#asleep, ...awake.slice(0, index + 1)];
      this.branches.push({ prefix: [...this.taken, other], asleep: stillAsleep(tried, other) });
    }
    this.#asleep = stillAsleep(this.#asleep, first);
    this.taken.push(first);
    return first;
  }
}

export function textOf({ actor, label, choice }: Move): string {
  return `${actor} ${label}${choice === 'ok' ? '' : `: ${choice}`}`;
}

function isSame(one: Move, other: Move): boolean {
  return textOf(one) === textOf(other);
}

function stillAsleep(asleep: readonly Move[], taken: Move): readonly Move[] {
  return asleep.filter((move) => !meet(move, taken));
}

/** Whether the order of two steps can make a difference. */
function meet(one: Move, other: Move): boolean {
  if (one.actor === other.actor) return true;
  // The number of faults is limited: one may use up the other's.
  if (one.choice !== 'ok' && other.choice !== 'ok') return true;
  if (one.choice === 'kill' || other.choice === 'kill') return false;
  if (one.kind === 'wallet' || other.kind === 'wallet') return one.kind === other.kind;
  return one.kind === 'write' || other.kind === 'write';
}
