const TICK_MS = 5;

export interface Stalls {
  /** The longest one since the last time that this was asked. */
  longestMs(): number;
  end(): void;
}

/**
 * Measures how long this process did nothing at all: on a busy machine other processes have the processor, and what was
 * due meanwhile is late, whatever the code does.
 */
export function watchStalls(): Stalls {
  let longestMs = 0;
  let lastMs = performance.now();
  const tick = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs - TICK_MS);
    lastMs = nowMs;
  };
  const timer = setInterval(tick, TICK_MS).unref();
  return {
    longestMs: () => {
      tick();
      const answer = longestMs;
      longestMs = 0;
      return answer;
    },
    end: () => clearInterval(timer),
  };
}
