import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from '../../../src/domain/deadline.ts';
import { BetChanges } from '../../../src/operations/bet-changes.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const clock = { nowMs: () => Date.now(), monotonicMs: () => Date.now() };
const deadlineIn = (ms: number) => new Deadline(clock, clock.monotonicMs(), ms, 0);

/** Begins to wait, and records the result and how long it took. */
function waiting(changes: BetChanges, id: string, turn = 0, deadline = deadlineIn(60_000)) {
  const seen: { result?: boolean; afterMs?: number } = {};
  const beganAtMs = Date.now();
  void changes.next(id, deadline, turn).then((result) => {
    seen.result = result;
    seen.afterMs = Date.now() - beganAtMs;
  });
  return seen;
}

describe('waiting for a bet to be freed', () => {
  it('ends at once when it is freed here, for all who wait for it and for nobody else', async () => {
    const changes = new BetChanges();
    const [one, two, other] = ['a', 'a', 'b'].map((id) => waiting(changes, id, 10));
    changes.changed('a');
    await vi.advanceTimersByTimeAsync(0);
    expect([one, two, other]).toEqual([
      { result: true, afterMs: 0 },
      { result: true, afterMs: 0 },
      {},
    ]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(other).toEqual({ result: true, afterMs: 150 });
  });

  it('looks at the journal less and less often, for what another replica does', async () => {
    const changes = new BetChanges();
    const after: (number | undefined)[] = [];
    for (const turn of [0, 1, 2, 3, 4, 5, 11, 5_000]) {
      const wait = waiting(changes, 'a', turn);
      await vi.advanceTimersByTimeAsync(1_000);
      after.push(wait.afterMs);
    }
    expect(after).toEqual([10, 20, 40, 80, 150, 150, 150, 150]);
  });

  it('ends with its caller’s time, and does not begin without any (I1)', async () => {
    const changes = new BetChanges();
    const short = waiting(changes, 'a', 10, deadlineIn(30));
    const none = waiting(changes, 'a', 10, deadlineIn(0));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(short).toEqual({ result: true, afterMs: 30 });
    expect(none).toEqual({ result: false, afterMs: 0 });
  });

  it('forgets a bet for which nobody waits any more', async () => {
    const changes = new BetChanges();
    const forgotten = vi.spyOn(Map.prototype, 'delete');
    try {
      const [first, second] = [waiting(changes, 'a', 0), waiting(changes, 'a', 1)];
      await vi.advanceTimersByTimeAsync(10);
      expect(first.afterMs).toBe(10);
      expect(forgotten).not.toHaveBeenCalledWith('a');
      await vi.advanceTimersByTimeAsync(10);
      expect(second.afterMs).toBe(20);
      expect(forgotten).toHaveBeenCalledWith('a');
    } finally {
      forgotten.mockRestore();
    }
  });
});
