import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { httpStatusOf, Readiness } from '../../src/http/health.ts';

const FRESH_MS = 500;

const up = () => Promise.resolve(true);
const down = () => Promise.resolve(false);
const broken = () => Promise.reject(new Error('connection refused'));
const hangs = () => new Promise<boolean>(() => undefined);

function readiness(checks: Partial<ConstructorParameters<typeof Readiness>[0]['checks']> = {}) {
  let nowMs = 0;
  const subject = new Readiness({
    clock: { ...systemClock, monotonicMs: () => nowMs },
    checks: { postgresql: up, redis: up, ...checks },
    timeoutMs: 30,
  });
  return {
    subject,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

async function statusOf(subject: Readiness): Promise<[number, string]> {
  const report = await subject.report();
  return [httpStatusOf(report), report.status];
}

describe('readiness', () => {
  it('is ready while both servers answer', async () => {
    const { subject } = readiness();
    subject.started();
    const report = await subject.report();
    expect(report).toEqual({ status: 'ready', dependencies: { postgresql: 'up', redis: 'up' } });
    expect(httpStatusOf(report)).toBe(200);
  });

  it('stays in service without Redis, degraded', async () => {
    const { subject } = readiness({ redis: down });
    subject.started();
    const report = await subject.report();
    expect(report).toEqual({
      status: 'degraded',
      dependencies: { postgresql: 'up', redis: 'down' },
    });
    expect(httpStatusOf(report)).toBe(200);
  });

  it('is not ready while PostgreSQL takes no writes, and says that it does answer', async () => {
    const { subject } = readiness({ postgresql: () => Promise.resolve('read_only') });
    subject.started();
    const report = await subject.report();
    expect(report).toEqual({
      status: 'unavailable',
      dependencies: { postgresql: 'read_only', redis: 'up' },
    });
    expect(httpStatusOf(report)).toBe(503);
  });

  it('is not ready while nobody behind it takes callbacks, and says so (I7)', async () => {
    let takesCallbacks = false;
    const subject = new Readiness({
      clock: systemClock,
      checks: { postgresql: up, redis: up },
      takesCallbacks: () => takesCallbacks,
    });
    // Its worker processes start together with it.
    expect(await subject.report()).not.toHaveProperty('workerProcesses');
    subject.started();
    const report = await subject.report();
    expect(report).toMatchObject({ status: 'unavailable', workerProcesses: 'gone' });
    expect(httpStatusOf(report)).toBe(503);
    takesCallbacks = true;
    expect(await subject.report()).toEqual({
      status: 'ready',
      dependencies: { postgresql: 'up', redis: 'up' },
    });
  });

  it.each([
    ['says no', down],
    ['is refused', broken],
    ['hangs', hangs],
  ])('is not ready when PostgreSQL %s', async (_case, postgresql) => {
    const { subject } = readiness({ postgresql });
    subject.started();
    expect(await statusOf(subject)).toEqual([503, 'unavailable']);
  });

  it('takes no requests before it has started and none once it drains', async () => {
    const { subject } = readiness();
    expect(await statusOf(subject)).toEqual([503, 'starting']);
    subject.started();
    expect(await statusOf(subject)).toEqual([200, 'ready']);
    subject.draining();
    subject.started();
    expect(await statusOf(subject)).toEqual([503, 'draining']);
  });

  it('asks a server once for probes that come close together', async () => {
    let asked = 0;
    const { subject, pass } = readiness({
      postgresql: async () => {
        asked += 1;
        return true;
      },
    });
    await Promise.all([subject.report(), subject.report()]);
    await subject.report();
    expect(asked).toBe(1);
    pass(FRESH_MS);
    await subject.report();
    expect(asked).toBe(2);
  });
});
