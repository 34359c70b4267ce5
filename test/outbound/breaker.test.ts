import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  Breaker,
  type BreakerOverride,
  type BreakerState,
  type Health,
} from '../../src/outbound/breaker.ts';
import { PATIENT_MS } from '../support/timing.ts';

const SETTINGS = { errorPercent: 50, minRequests: 4, windowMs: 2000, openMs: 60 };
const opened: { shutdown(): void }[] = [];

// On a busy machine a real 60 ms may be over before the next line, and ticks may be skipped.
beforeEach(() => {
  const toFake = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;
  vi.useFakeTimers({ toFake: [...toFake] });
});
afterEach(() => {
  for (const breaker of opened.splice(0)) breaker.shutdown();
  vi.useRealTimers();
});

function breaker(changes: Partial<typeof SETTINGS> = {}, override: BreakerOverride = 'auto') {
  const changed: BreakerState[] = [];
  const made = new Breaker({
    name: 'alpha/money',
    settings: { ...SETTINGS, ...changes },
    override,
    onChange: (state) => changed.push(state),
  });
  opened.push(made);
  return { breaker: made, changed };
}

async function make(target: Breaker, ...answers: Health[]): Promise<void> {
  for (const answer of answers)
    await target.run(
      async () => answer,
      (health) => health,
    );
}

async function openBreaker() {
  const made = breaker();
  await make(made.breaker, 'faulty', 'faulty', 'faulty', 'faulty');
  expect(made.breaker.state).toBe('open');
  return made;
}

async function halfOpenBreaker() {
  const made = await openBreaker();
  await vi.waitFor(() => expect(made.breaker.state).toBe('half_open'), {
    interval: 5,
    timeout: PATIENT_MS,
  });
  return made;
}

describe('a closed breaker', () => {
  it('does not open on few calls, however bad', async () => {
    const { breaker: target } = breaker();
    await make(target, 'faulty', 'faulty', 'faulty');
    expect(target.state).toBe('closed');
  });

  it('opens when the share of faults is reached, not only when it is passed', async () => {
    const { breaker: target, changed } = breaker();
    await make(target, 'healthy', 'healthy', 'faulty', 'faulty');
    expect(target.state).toBe('open');
    expect(target.admits).toBe(false);
    expect(changed).toEqual(['open']);
  });

  it('opens at 100 percent where that is asked for', async () => {
    const { breaker: target } = breaker({ errorPercent: 100 });
    await make(target, 'faulty', 'faulty', 'faulty', 'faulty');
    expect(target.state).toBe('open');
  });

  it('stays closed on answers that say nothing about the wallet', async () => {
    const { breaker: target } = breaker();
    await make(target, 'neutral', 'neutral', 'neutral', 'neutral', 'neutral');
    expect(target.state).toBe('closed');
  });

  it('forgets what is older than its window', async () => {
    const { breaker: target } = breaker({ windowMs: 50 });
    await make(target, 'faulty', 'faulty', 'faulty');
    vi.advanceTimersByTime(60);
    await make(target, 'faulty');
    expect(target.state).toBe('closed');
  });

  it('counts a call that throws, and throws the same', async () => {
    const { breaker: target } = breaker({ minRequests: 1 });
    const bug = new Error('bug');
    const call = target.run(
      () => Promise.reject(bug),
      (): Health => 'healthy',
    );
    await expect(call).rejects.toBe(bug);
    expect(target.state).toBe('open');
  });
});

describe('a half-open breaker', () => {
  it('comes after its time, admits one call and no second beside it', async () => {
    const { breaker: target, changed } = await halfOpenBreaker();
    expect(changed).toEqual(['open', 'half_open']);
    expect(target.admits).toBe(true);
    const { promise, resolve } = Promise.withResolvers<Health>();
    const probe = target.run(
      () => promise,
      (health) => health,
    );
    expect(target.admits).toBe(false);
    resolve('healthy');
    await probe;
    expect(target.state).toBe('closed');
    expect(target.admits).toBe(true);
    expect(changed).toEqual(['open', 'half_open', 'closed']);
  });

  it.each<Health>(['faulty', 'neutral'])(
    'opens again on a %s call: it needs proof',
    async (health) => {
      const { breaker: target } = await halfOpenBreaker();
      await make(target, health);
      expect(target.state).toBe('open');
      await vi.waitFor(() => expect(target.state).toBe('half_open'), {
        interval: 5,
        timeout: PATIENT_MS,
      });
    },
  );
});

describe('a breaker that has closed', () => {
  it('counts from then on: what failed before the opening does not open it again', async () => {
    const { breaker: target } = await halfOpenBreaker();
    await make(target, 'healthy', 'faulty', 'faulty', 'faulty');
    expect(target.state).toBe('closed');
    await make(target, 'faulty');
    expect(target.state).toBe('open');
  });

  it('does not count a call that began before the opening and fails after the closing', async () => {
    const { breaker: target } = breaker({ minRequests: 1 });
    const late = Promise.withResolvers<Health>();
    const begunBefore = target.run(
      () => late.promise,
      (health) => health,
    );
    await make(target, 'faulty');
    vi.advanceTimersByTime(SETTINGS.openMs);
    await make(target, 'healthy');
    late.resolve('faulty');
    expect(await begunBefore).toBe('faulty');
    expect(target.state).toBe('closed');
  });

  it('by a person begins anew, too', async () => {
    const { breaker: target } = await openBreaker();
    target.override('closed');
    target.override('auto');
    await make(target, 'healthy', 'faulty');
    expect(target.state).toBe('closed');
  });
});

describe('an override', () => {
  it('holds a bad wallet closed, and counts nothing meanwhile', async () => {
    const { breaker: target, changed } = await openBreaker();
    target.override('closed');
    await make(target, 'faulty', 'faulty', 'faulty', 'faulty', 'faulty');
    expect(target.state).toBe('closed');
    target.override('auto');
    expect(target.state).toBe('closed');
    expect(changed).toEqual(['open', 'closed']);
  });

  it('holds a good wallet open until it is taken back', () => {
    const { breaker: target, changed } = breaker();
    target.override('open');
    expect(target.admits).toBe(false);
    target.override('auto');
    expect(target.admits).toBe(true);
    expect(changed).toEqual(['open', 'closed']);
  });

  it('may be there from the start', () => {
    expect(breaker({}, 'open').breaker.state).toBe('open');
  });
});
