import { describe, expect, it } from 'vitest';
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
    const hour = new LastHour(clock, metrics.families, (error) => {
      throw error;
    });
    hour.start();
    // The first look is under way; without it there is nothing to compare with.
    await expect.poll(() => hour.of('alpha')).toHaveLength(1);
    for (const outcome of ['accepted', 'declined', 'unknown', 'unknown']) place('alpha', outcome);
    place('beta', 'declined');
    const call = { operator: 'alpha', operation: 'place' } as const;
    metrics.walletRequests.inc({ ...call, result: 'accepted' });
    metrics.walletRequests.inc({ ...call, result: 'timeout' });
    metrics.walletRequestDuration.observe(call, 0.1);
    metrics.walletRequestDuration.observe(call, 0.3);
    metrics.rejected.inc({ operator: 'alpha', reason: 'breaker' });
    for (const seconds of [0.1, 4.9, 5.2, 7]) metrics.callbackDuration.observe(call, seconds);
    monotonicMs = 2_000;
    // Put right by a day in between.
    wallMs -= 86_400_000;
    expect(await hour.of('alpha')).toEqual([
      {
        at: '2026-11-22T00:00:00.000Z',
        callbacks: 4,
        declined: 1,
        unknown: 2,
        late: 2,
        walletCalls: 2,
        walletFailures: 1,
        rejected: 1,
        walletMeanMs: 200,
      },
    ]);
    const recently = {
      ...{ seconds: 2, callbacks: 4, unknown: 2, late: 2 },
      ...{ walletCalls: 2, walletFailures: 1 },
    };
    expect((await hour.recently())?.get('alpha')).toEqual(recently);
    expect((await hour.recently())?.has('gamma')).toBe(false);
    place('alpha', 'unknown');
    // Read once for all who ask within two seconds.
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
    const families = () => {
      readings += 1;
      return metrics.families();
    };
    const hour = new LastHour(clock, families, (error) => {
      throw error;
    });
    await Promise.all([hour.of('alpha'), hour.of('beta'), hour.recently(), hour.of('alpha')]);
    expect(readings).toBe(1);
    monotonicMs = 2_000;
    await hour.of('alpha');
    expect(readings).toBe(2);
  });
});
