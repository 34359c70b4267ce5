import { syncBuiltinESMExports } from 'node:module';
import waits from 'node:timers/promises';
import { afterEach, beforeEach, vi } from 'vitest';

/**
 * In this file time passes only when its tests say so (`vi.advanceTimersByTimeAsync`), also for the waits of
 * `node:timers/promises`, which must not keep a process alive.
 */
export function useTestWaits(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.spyOn(waits, 'setTimeout').mockImplementation((afterMs, value, options) => {
      if (options?.ref !== false) throw new Error('a process would be kept alive');
      return new Promise((resolve) => {
        setTimeout(() => resolve(value as never), afterMs);
      });
    });
    // Modules see a builtin through its bindings.
    syncBuiltinESMExports();
  });
  afterEach(() => {
    vi.mocked(waits.setTimeout).mockRestore();
    syncBuiltinESMExports();
    vi.useRealTimers();
  });
}
