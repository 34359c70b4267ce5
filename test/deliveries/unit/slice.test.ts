import { describe, expect, it, vi } from 'vitest';
import type { Claim } from '../../../src/store/deliveries/queue.ts';
import { TestClock } from '../../support/test-clock.ts';
import { PATIENT_MS } from '../../support/timing.ts';
import { accepted, claim, endless, notSent, sliceOf, taken } from '../support/slice-scene.ts';

/** A slice with parts that behave as the test says; other files use the real ones. */

describe('a slice', () => {
  it('also delivers what was claimed while its time ran out: nothing waits for a lease', async () => {
    const late = Promise.withResolvers<Claim>();
    const claims = [Promise.resolve(claim(1, 2, 3)), late.promise];
    const { slice, clock, finished, store } = sliceOf(
      () => claims.shift() ?? Promise.resolve(claim()),
      accepted,
    );
    const run = slice.run();
    await vi.waitFor(() => expect(store.take).toHaveBeenCalledTimes(2), PATIENT_MS);
    await vi.waitFor(() => expect(finished).toHaveLength(3), PATIENT_MS);
    clock.atMs += 2_000;
    late.resolve(claim(4, 5));
    await run;
    expect(finished.toSorted()).toEqual(['bet-1', 'bet-2', 'bet-3', 'bet-4', 'bet-5']);
    expect(store.take).toHaveBeenCalledTimes(2);
  });

  it('claims ahead only what quick calls can begin soon', async () => {
    const clock = new TestClock();
    const limits: number[] = [];
    const { slice, store } = sliceOf(
      async () =>
        limits.length < 4 ? claim(limits.length * 2 + 1, limits.length * 2 + 2) : claim(),
      async () => {
        // Half a second each: by the end of a call, nobody knows what has become of the rest.
        clock.atMs += 250;
        return await accepted();
      },
      { clock },
    );
    store.take.mockImplementation(async (_operatorId, { limit }) => {
      limits.push(limit);
      return limits.length < 4 ? claim(limits.length * 2 - 1, limits.length * 2) : claim();
    });
    await slice.run();
    expect(Math.max(...limits)).toBeLessThanOrEqual(2);
  });

  it('ends with what PostgreSQL throws, after its calls under way are written down', async () => {
    let asked = 0;
    const { slice, finished } = sliceOf(async () => {
      asked += 1;
      if (asked > 1) throw new Error('gone');
      return claim(1);
    }, accepted);
    await expect(slice.run()).rejects.toThrow('gone');
    expect(finished).toEqual(['bet-1']);
  });

  it('claims one for each lane that waits, and says when nothing is due any more', async () => {
    const limits: number[] = [];
    const { slice, finished } = sliceOf(async (_operatorId, { limit }) => {
      limits.push(limit);
      return limits.length === 1 ? claim(1, 2) : claim();
    }, accepted);
    expect(slice.isDry).toBe(false);
    await slice.run();
    expect(limits[0]).toBe(2);
    expect(finished.toSorted()).toEqual(['bet-1', 'bet-2']);
    expect(slice.isDry).toBe(true);
    expect(slice.wasRefused).toBe(false);
  });

  it('asks no more once the last due ones were claimed', async () => {
    const { slice, store, finished } = sliceOf(
      async () => ({ taken: [taken(1), taken(2)], isDry: true }),
      accepted,
    );
    await slice.run();
    expect(store.take).toHaveBeenCalledTimes(1);
    expect(finished.toSorted()).toEqual(['bet-1', 'bet-2']);
  });

  it('sends one that moves money where the breaker is half-open, and ends with it', async () => {
    const { asked, take } = endless();
    const { slice, finished } = sliceOf(take, accepted, { breaker: 'half_open', concurrency: 8 });
    await slice.run();
    expect(asked).toEqual([{ limit: 1, which: 'money' }]);
    expect(finished).toEqual(['bet-1']);
  });

  it('looks for a probe again where the first look found none', async () => {
    const claims = [{ taken: [], isDry: false }, claim(1)];
    const limits: number[] = [];
    const { slice, finished } = sliceOf(
      async (_operatorId, { limit }) => {
        limits.push(limit);
        return claims.shift() ?? claim();
      },
      accepted,
      { breaker: 'half_open' },
    );
    await slice.run();
    expect(limits).toEqual([1, 1_000]);
    expect(finished).toEqual(['bet-1']);
  });

  it('claims no more once a call was not let through', async () => {
    const { asked, take } = endless();
    const { slice } = sliceOf(take, notSent, { concurrency: 1 });
    await slice.run();
    expect(asked).toEqual([{ limit: 1, which: 'all' }]);
    expect(slice.wasRefused).toBe(true);
    expect(slice.isDry).toBe(false);
  });

  it('looks at a thousand if none of the due ones may be sent, and at few again after them', async () => {
    const claims = [claim(1), { taken: [], isDry: false }, claim(2), claim()];
    const limits: number[] = [];
    const { slice } = sliceOf(
      async (_operatorId, { limit }) => {
        limits.push(limit);
        return claims.shift() ?? claim();
      },
      accepted,
      { concurrency: 1, ratePerSecond: 1_000_000 },
    );
    await slice.run();
    expect(limits).toEqual([1, 1, 1_000, 1]);
  });

  it('claims ahead what begins within 50 ms, by the average of the calls, before it runs out', async () => {
    const clock = new TestClock();
    const callsMs = [10, 30];
    const limits: number[] = [];
    const begun: number[] = [];
    let calls = 0;
    const { slice } = sliceOf(
      async (_operatorId, { limit }) => {
        limits.push(limit);
        begun.push(calls);
        const first = limits.slice(0, -1).reduce((sum, one) => sum + one, 1);
        return limits.length < 4
          ? claim(...Array.from({ length: limit }, (_, index) => first + index))
          : claim();
      },
      async () => {
        clock.atMs += callsMs[calls] ?? 12;
        calls += 1;
        // Another claim in the meantime is not delayed by this one.
        await new Promise(setImmediate);
        await new Promise(setImmediate);
        return await accepted();
      },
      { clock, concurrency: 1 },
    );
    await slice.run();
    // After 10 ms; then after 10 + 0.1 * (30 - 10) = 12 ms.
    expect(limits.slice(0, 3)).toEqual([1, 5, 4]);
    // Three of the five had begun, or were just about to: two were left.
    expect(begun[2]).toBeGreaterThanOrEqual(3);
    expect(begun[2]).toBeLessThanOrEqual(5);
  });

  it('claims nothing ahead for an operator that has a rate', async () => {
    const clock = new TestClock();
    const { asked, take } = endless();
    const { slice } = sliceOf(
      take,
      async () => {
        clock.atMs += 100;
        return await accepted();
      },
      { clock, concurrency: 1, ratePerSecond: 1_000 },
    );
    await slice.run();
    expect(asked.length).toBeGreaterThan(2);
    expect(new Set(asked.map(({ limit }) => limit))).toEqual(new Set([1]));
  });

  it('goes on beside 128 outcomes that are not written yet, and ends when all are', async () => {
    const written = Promise.withResolvers<void>();
    const { take } = endless();
    const clock = new TestClock();
    let calls = 0;
    const { slice, finished } = sliceOf(
      take,
      async () => {
        calls += 1;
        return await accepted();
      },
      { clock, concurrency: 1, written: written.promise },
    );
    let hasEnded = false;
    const run = slice.run().then(() => {
      hasEnded = true;
    });
    await vi.waitFor(() => expect(calls).toBe(129), PATIENT_MS);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect(calls).toBe(129);
    clock.atMs += 2_000;
    expect(hasEnded).toBe(false);
    written.resolve();
    await run;
    expect(finished).toHaveLength(calls);
  });
});
