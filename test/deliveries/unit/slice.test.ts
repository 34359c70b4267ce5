import { describe, expect, it, vi } from 'vitest';
import type { Claim } from '../../../src/store/deliveries/claim.ts';
import { TestClock } from '../../support/test-clock.ts';
import { PATIENT_MS } from '../../support/timing.ts';
import { accepted, claim, endless, notSent, sliceOf } from '../support/slice-scene.ts';

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

  it('claims beside live calls only what may begin now, and sends all of it (I7)', async () => {
    const { asked, take } = endless();
    const { slice, clock, finished, liveCalls } = sliceOf(
      take,
      async () => {
        clock.atMs += 2_000;
        return await accepted();
      },
      { concurrency: 500 },
    );
    clock.wallMs += 500;
    await liveCalls.begin(async () => undefined);
    await slice.run();
    expect(asked[0]?.limit).toBeLessThan(100);
    const claimed = asked.reduce((sum, { limit }) => sum + limit, 0);
    expect(finished).toHaveLength(claimed);
  });

  it('claims nothing if its operator is held while live calls go first', async () => {
    const { asked, take } = endless();
    const looks = [false];
    const isHeld = () => looks.shift() ?? true;
    const { slice, liveCalls } = sliceOf(take, accepted, { isHeld });
    await liveCalls.begin(async () => undefined);
    await slice.run();
    expect([asked, looks]).toEqual([[], []]);
  });

  it('sends one that moves money where the breaker is half-open, and ends with it', async () => {
    const { asked, take } = endless();
    const { slice, finished } = sliceOf(take, accepted, { breaker: 'half_open', concurrency: 8 });
    await slice.run();
    expect(asked).toEqual([{ limit: 1, which: 'money' }]);
    expect(finished).toEqual(['bet-1']);
  });

  it('makes the next due where the one for the half-open breaker was another wallet’s (I7)', async () => {
    const nothingSent: Claim = { taken: [], isDry: false };
    const claims = [nothingSent, nothingSent, claim(1)];
    const { slice, finished, store } = sliceOf(async () => claims.shift() ?? claim(), accepted, {
      breaker: 'half_open',
    });
    await slice.run();
    expect(store.nudge.mock.calls).toEqual([['alpha'], ['alpha']]);
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
