import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LastHour } from '../../src/telemetry/last-hour.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

describe('the last hour of an operator', () => {
  it('is what the counters grew by, of that operator alone (I8)', async () => {
    const metrics = createMetrics();
    let monotonicMs = 0;
    let wallMs = Date.UTC(2026, 10, 22);
    const clock = { nowMs: () => wallMs, monotonicMs: () => monotonicMs };
    const place = (operator: string, outcome: string) =>
      metrics.callbacks.inc({ operator, operation: 'place', outcome });
    place('alpha', 'accepted');
    const hour = new LastHour(
      clock,
      async () => metrics.registry,
      (error) => {
        throw error;
      },
    );
    hour.start();
    // The first look must be done: without it there is nothing to compare with.
    await expect.poll(() => hour.of('alpha')).toHaveLength(1);
    for (const outcome of ['accepted', 'declined', 'unknown', 'unknown']) place('alpha', outcome);
    place('beta', 'declined');
    const call = { operator: 'alpha', operation: 'place' } as const;
    metrics.walletRequests.inc({ ...call, result: 'accepted' });
    metrics.walletRequests.inc({ ...call, result: 'timeout' });
    // A wallet that declines has answered.
    metrics.walletRequests.inc({ ...call, result: 'declined' });
    metrics.walletRequestDuration.observe(call, 0.1);
    metrics.walletRequestDuration.observe(call, 0.3);
    metrics.rejected.inc({ operator: 'alpha', reason: 'breaker' });
    for (const seconds of [0.1, 4.9, 5.2, 7]) metrics.callbackDuration.observe(call, seconds);
    monotonicMs = 2_000;
    // The clock was set by a day in between.
    wallMs -= 86_400_000;
    expect(await hour.of('alpha')).toEqual([
      {
        at: '2026-11-22T00:00:00.000Z',
        callbacks: 4,
        declined: 1,
        unknown: 2,
        late: 2,
        walletCalls: 3,
        walletFailures: 1,
        rejected: 1,
        walletMeanMs: 200,
      },
    ]);
    const recently = {
      ...{ seconds: 2, callbacks: 4, unknown: 2, late: 2 },
      ...{ walletCalls: 3, walletFailures: 1 },
    };
    expect((await hour.recently())?.get('alpha')).toEqual(recently);
    expect((await hour.recently())?.has('gamma')).toBe(false);
    place('alpha', 'unknown');
    // Read only once for all requests within two seconds.
    expect((await hour.recently())?.get('alpha')).toEqual(recently);
    monotonicMs = 4_000;
    expect((await hour.recently())?.get('alpha')).toMatchObject({ callbacks: 5, unknown: 3 });
    expect(await hour.of('gamma')).toMatchObject([{ callbacks: 0, walletMeanMs: null }]);
    hour.close();
  });

  it('is read once for all who look at an operator within two seconds (I7)', async () => {
    const metrics = createMetrics();
    let monotonicMs = 0;
    const clock = { nowMs: () => Date.UTC(2026, 10, 22), monotonicMs: () => monotonicMs };
    let readings = 0;
    const registry = async () => {
      readings += 1;
      return metrics.registry;
    };
    const hour = new LastHour(clock, registry, (error) => {
      throw error;
    });
    await Promise.all([hour.of('alpha'), hour.of('beta'), hour.recently(), hour.of('alpha')]);
    expect(readings).toBe(1);
    monotonicMs = 2_000;
    await hour.of('alpha');
    expect(readings).toBe(2);
  });
});

describe('the looks at the counters', () => {
  /** The last hour of one counter of callbacks, minute by minute. */
  function watched() {
    const now = { count: 0, ms: 0 };
    const registry = vi.fn(async () => {
      const { registry, callbacks } = createMetrics();
      callbacks.inc({ operator: 'alpha', operation: 'place', outcome: 'accepted' }, now.count);
      return registry;
    });
    const onError = vi.fn();
    const clock = { nowMs: () => now.ms, monotonicMs: () => now.ms };
    const hour = new LastHour(clock, registry, onError);
    const minute = async (callbacks: number) => {
      now.count += callbacks;
      now.ms += 60_000;
      await vi.advanceTimersByTimeAsync(60_000);
    };
    const counted = async () => (await hour.of('alpha')).map(({ callbacks }) => callbacks);
    return { now, registry, onError, hour, minute, counted };
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
  });

  it('are one a minute, of which an hour is kept, and the last five tell how it stands now', async () => {
    const { now, hour, minute, counted, registry } = watched();
    hour.start();
    await vi.advanceTimersByTimeAsync(0);
    for (let at = 1; at <= 70; at += 1) await minute(at);
    expect(registry).toHaveBeenCalledTimes(71);
    now.count += 1_000;
    const kept = await counted();
    expect(kept).toHaveLength(60);
    expect([kept.at(0), kept.at(-2), kept.at(-1)]).toEqual([12, 70, 1_000]);
    expect((await hour.recently())?.get('alpha')).toMatchObject({
      ...{ seconds: 240, callbacks: 67 + 68 + 69 + 70 + 1_000 },
    });
    hour.close();
    await minute(1);
    expect(registry).toHaveBeenCalledTimes(72);
  });

  it('count nothing if a counter was reset, and go on from there', async () => {
    const { now, hour, minute, counted } = watched();
    hour.start();
    await vi.advanceTimersByTimeAsync(0);
    await minute(5);
    now.count = 0;
    await minute(2);
    await minute(3);
    expect(await counted()).toEqual([5, 0, 3, 0]);
    hour.close();
  });

  it('miss one that fails, say so, and go on', async () => {
    const { hour, minute, counted, registry, onError } = watched();
    hour.start();
    await vi.advanceTimersByTimeAsync(0);
    const why = new Error('a worker does not answer');
    registry.mockRejectedValueOnce(why);
    await minute(4);
    expect(onError.mock.calls).toEqual([[why]]);
    await minute(5);
    expect(await counted()).toEqual([9, 0]);
    hour.close();
  });
});

it('is looked at without keeping the process alive', () => {
  const alive = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
  const before = alive();
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const hour = new LastHour(clock, async () => new Registry(), vi.fn());
  hour.start();
  expect(alive()).toBe(before);
  hour.close();
});
