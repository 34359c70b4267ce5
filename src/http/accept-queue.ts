import type { Clock } from '../domain/clock.ts';

/**
 * How many connections may wait to be accepted. The kernel leaves further ones unanswered, and they retry seconds
 * later, when nobody can tell how long they have waited. Linux allows `net.core.somaxconn` at most (4,096).
 */
export const BACKLOG = 4_096;
/** Including the one that is just being accepted. */
const WAITING_MAX = BACKLOG + 1;

/** While connections arrive without a pause, how often the system is asked how many of them wait. */
const LOOK_MS = 250;

/** One reading of the queue's length. */
interface Look {
  readonly atMs: number;
  /** The index of the last one that waited at `atMs`: all accepted after it arrived later. */
  readonly lastWaiting: number;
}

/** Connections accepted one per turn, since a turn that found nobody waiting. */
interface Row {
  /** The earliest arrival of those still to be accepted, on the monotonic clock. */
  sinceMs: number;
  accepted: number;
  acceptedAtLastTurn: number;
  /** Those whose `lastWaiting` has not been accepted yet. */
  looks: readonly Look[];
  lookedMs: number;
}

/**
 * An upper bound for how long connections have waited to be accepted. The event loop accepts one per turn; if turns are
 * long and many connections arrive, the last of them wait for seconds. A connection cannot have arrived before the one
 * `WAITING_MAX` places ahead of it was accepted, since the queue is no longer than that, nor before a turn that found
 * nobody waiting. In a constantly busy process no turn does, and everybody would seem to have arrived at the
 * beginning: so the system is also asked how many really wait.
 */
export class AcceptQueue {
  readonly #clock: Clock;
  readonly #waiting: () => number | undefined;
  /** When the latest of those accepted one per turn were accepted. */
  readonly #atMs = new Float64Array(WAITING_MAX);
  #row: Row | undefined;

  /** @param waiting how many wait at this moment; undefined if unknown, which is the default */
  constructor(clock: Clock, waiting: () => number | undefined = () => undefined) {
    this.#clock = clock;
    this.#waiting = waiting;
  }

  /**
   * Call it when a connection is accepted.
   * @param lagMs how long the event loop had not polled before this turn
   * @returns the earliest time at which the connection can have arrived, on the monotonic clock
   */
  accepted(lagMs: number): number {
    const nowMs = this.#clock.monotonicMs();
    const row = this.#row ?? this.#begin(nowMs, lagMs);
    const slot = row.accepted % WAITING_MAX;
    const before = row.accepted < WAITING_MAX ? row.sinceMs : (this.#atMs[slot] ?? row.sinceMs);
    this.#atMs[slot] = nowMs;
    row.accepted += 1;
    if (nowMs - row.lookedMs >= LOOK_MS) this.#look(row, nowMs);
    return Math.max(before, cameAfterMs(row));
  }

  #begin(nowMs: number, lagMs: number): Row {
    const row = {
      sinceMs: nowMs - lagMs,
      accepted: 0,
      acceptedAtLastTurn: 0,
      looks: [],
      lookedMs: nowMs,
    };
    this.#row = row;
    setImmediate(this.#afterTurn);
    return row;
  }

  #look(row: Row, atMs: number): void {
    row.lookedMs = atMs;
    const waiting = this.#waiting();
    if (waiting !== undefined) {
      row.looks = [...row.looks, { atMs, lastWaiting: row.accepted + waiting }];
    }
  }

  /** Between two of these the loop has polled all its sockets once. */
  readonly #afterTurn = () => {
    const row = this.#row;
    if (row === undefined) return;
    if (row.accepted === row.acceptedAtLastTurn) {
      this.#row = undefined;
      return;
    }
    row.acceptedAtLastTurn = row.accepted;
    setImmediate(this.#afterTurn);
  };
}

/** The earliest arrival of the connection just accepted, according to the readings of the queue. */
function cameAfterMs(row: Row): number {
  for (const { atMs, lastWaiting } of row.looks) {
    if (row.accepted > lastWaiting) row.sinceMs = Math.max(row.sinceMs, atMs);
  }
  row.looks = row.looks.filter(({ lastWaiting }) => row.accepted <= lastWaiting);
  return row.sinceMs;
}
