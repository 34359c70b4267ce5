/** The clock used by all logic that depends on time, so that tests can control it. */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. For timestamps people read. */
  nowMs(): number;
  /** Milliseconds that only ever grow. For every measurement and deadline: a wall clock jumps. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
