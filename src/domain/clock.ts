export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. For timestamps people read. */
  nowMs(): number;
  /** Milliseconds that only grow, for measurements and deadlines: a wall clock jumps. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
