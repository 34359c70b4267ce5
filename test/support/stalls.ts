const TICK_MS = 5;

/** Each answer is the longest since the last time that this was asked. */
export interface Stalls {
  /** For how long no other turn of the loop came, whatever the reason. */
  longestMs(): number;
  /** The same without what this thread itself computed meanwhile: what it does for so long is no excuse for it. */
  longestIdleMs(): number;
  end(): void;
}

/**
 * Measures how long this process did nothing at all: on a busy machine other processes have the processor, and what was
 * due meanwhile is late, whatever the code does.
 */
export function watchStalls(): Stalls {
  let longestMs = 0;
  let longestIdleMs = 0;
  let lastMs = performance.now();
  let lastWorkedMs = workedMs();
  const tick = () => {
    const [nowMs, nowWorkedMs] = [performance.now(), workedMs()];
    const gapMs = nowMs - lastMs - TICK_MS;
    longestMs = Math.max(longestMs, gapMs);
    longestIdleMs = Math.max(longestIdleMs, gapMs - (nowWorkedMs - lastWorkedMs));
    [lastMs, lastWorkedMs] = [nowMs, nowWorkedMs];
  };
  const timer = setInterval(tick, TICK_MS).unref();
  return {
    longestMs: () => {
      tick();
      const answer = longestMs;
      longestMs = 0;
      return answer;
    },
    longestIdleMs: () => {
      tick();
      const answer = longestIdleMs;
      longestIdleMs = 0;
      return answer;
    },
    end: () => clearInterval(timer),
  };
}

/** How long a processor has worked for this thread so far. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
