import type { Clock } from '../domain/clock.ts';

/**
 * So many may wait to be accepted. Where more come than a listening socket holds, the kernel leaves them
 * unanswered, and they try again seconds later: nobody can tell then how long they have waited. Linux holds
 * as many as `net.core.somaxconn` says at most (4,096).
 */
export const BACKLOG = 4_096;
/** The one that is being accepted waits no longer. */
const WAITING_MAX = BACKLOG + 1;

/**
 * How long connections have waited to be accepted, at most. Of those that wait the event loop accepts one a
 * turn; when turns are long and many come, the last of them wait for seconds with a request that nobody has
 * seen. One that came to a queue of at most so many did not come before the one was accepted that stood as
 * many places before it, nor before a turn that found nobody waiting.
 */
export class AcceptQueue {
  readonly #clock: Clock;
  /** When those were accepted that came one a turn, the latest of them. */
  readonly #atMs = new Float64Array(WAITING_MAX);
  /** How many there were since a turn that found nobody waiting. */
  #inRow = 0;
  #rowSinceMs = 0;
  #seenInRow = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Call it when a connection is accepted.
   * @param lagMs so long the event loop has not looked, until this turn
   * @returns the connection came no earlier than this, on the monotonic clock
   */
  accepted(lagMs: number): number {
    const nowMs = this.#clock.monotonicMs();
    if (this.#inRow === 0) {
      this.#rowSinceMs = nowMs - lagMs;
      this.#seenInRow = 0;
      setImmediate(this.#afterTurn);
    }
    const slot = this.#inRow % WAITING_MAX;
    const sinceMs = this.#inRow < WAITING_MAX ? this.#rowSinceMs : this.#atMs[slot];
    this.#atMs[slot] = nowMs;
    this.#inRow += 1;
    return sinceMs ?? nowMs;
  }

  /** Between two of these the loop has looked at all its sockets once. */
  readonly #afterTurn = () => {
    if (this.#inRow === this.#seenInRow) {
      this.#inRow = 0;
      return;
    }
    this.#seenInRow = this.#inRow;
    setImmediate(this.#afterTurn);
  };
}
