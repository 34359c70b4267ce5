import type { Clock } from '../domain/clock.ts';

/**
 * How many connections may wait to be accepted. Those beyond that the kernel leaves unanswered, and they try again
 * seconds later: nobody can tell then how long they have waited. Linux allows `net.core.somaxconn` at most (4,096).
 */
export const BACKLOG = 4_096;
/** With the one that is just being accepted. */
const WAITING_MAX = BACKLOG + 1;

/** While connections come without a pause, the system is asked this often how many of them wait. */
const LOOK_MS = 250;

/** How many waited at a time. */
interface Look {
  readonly atMs: number;
  /** Of those that are accepted one a turn: whichever comes after this one came after `atMs`. */
  readonly lastWaiting: number;
}

/** Connections that are accepted one a turn, since a turn that found nobody waiting. */
interface Row {
  /** Those that are still to be accepted came no earlier, on the monotonic clock. */
  sinceMs: number;
  accepted: number;
  acceptedAtLastTurn: number;
  /** Those whose `lastWaiting` has not been accepted yet. */
  looks: readonly Look[];
  lookedMs: number;
}

/**
 * How long connections have waited to be accepted, at most. Of those that wait the event loop accepts one a
 * turn; when turns are long and many come, the last of them wait for seconds with a request that nobody has
 * seen. One that came to a queue of at most so many did not come before the one was accepted that stood as
 * many places before it, nor before a turn that found nobody waiting. In a process that is only just kept busy no turn
 * ever does, and everybody would seem to have come at the beginning: so the system is asked how many really wait.
 */
export class AcceptQueue {
  readonly #clock: Clock;
  readonly #waiting: () => number | undefined;
  /** When those were accepted that came one a turn, the latest of them. */
  readonly #atMs = new Float64Array(WAITING_MAX);
  #row: Row | undefined;

  /** @param waiting how many wait at this moment; undefined where nobody knows, which is the default */
  constructor(clock: Clock, waiting: () => number | undefined = () => undefined) {
    this.#clock = clock;
    this.#waiting = waiting;
  }

  /**
   * Call it when a connection is accepted.
   * @param lagMs so long the event loop has not looked, until this turn
   * @returns the connection came no earlier than this, on the monotonic clock
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

  /** Between two of these the loop has looked at all its sockets once. */
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

/** When the one that was just accepted came at the earliest, as the looks at the queue tell. */
function cameAfterMs(row: Row): number {
  for (const { atMs, lastWaiting } of row.looks) {
    if (row.accepted > lastWaiting) row.sinceMs = Math.max(row.sinceMs, atMs);
  }
  row.looks = row.looks.filter(({ lastWaiting }) => row.accepted <= lastWaiting);
  return row.sinceMs;
}
