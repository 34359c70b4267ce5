import { randomBytes } from 'node:crypto';
import { setImmediate as otherWork } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import type { SessionCache } from '../../src/sessions/session-cache.ts';
import { SessionEnds } from '../../src/sessions/session-end.ts';
import type { Logger } from '../../src/telemetry/logger.ts';
import { partly } from '../support/partly.ts';
import { TestClock } from '../support/test-clock.ts';

it('Redis hears of every session that ends, even if a player has thousands', async () => {
  let [underWay, told] = [0, 0];
  const cache = partly<SessionCache>({
    onReturn: () => undefined,
    // Beyond this many at once Redis is not asked, as elsewhere.
    distrust: async () => {
      underWay += 1;
      const isAsked = underWay <= 2_000;
      await otherWork();
      underWay -= 1;
      told += isAsked ? 1 : 0;
      return isAsked;
    },
  });
  const warn = vi.fn();
  const logger = partly<Logger>({ warn });
  const hashes = Array.from({ length: 2_500 }, () => randomBytes(32));
  const ends = new SessionEnds({ cache, clock: new TestClock(), logger });
  expect(await ends.commit('alpha', hashes, async () => told)).toBe(2_500);
  expect(warn).not.toHaveBeenCalled();
});

/** Ends that Redis receives only after this many tries. */
function endsUnheard(times: number) {
  let told = 0;
  const cache = partly<SessionCache>({
    onReturn: () => undefined,
    distrust: async () => {
      told += 1;
      return told > times;
    },
  });
  const logger = partly<Logger>({ warn: vi.fn() });
  return { ends: new SessionEnds({ cache, clock: new TestClock(), logger }), told: () => told };
}

it('Redis is told again and again until it has heard, so that no copy outlives a session', async () => {
  const { ends, told } = endsUnheard(3);
  expect(await ends.commit('alpha', [Buffer.from('a token')], async () => 'ended')).toBe('ended');
  await expect.poll(told).toBe(4);
});

it('Redis is told again also of an end whose commit nobody confirmed: it may have taken effect', async () => {
  const { ends, told } = endsUnheard(2);
  const lost = async () => {
    throw new Error('Connection terminated unexpectedly');
  };
  await expect(ends.commit('alpha', [Buffer.from('a token')], lost)).rejects.toThrow('terminated');
  await expect.poll(told, { timeout: 5_000 }).toBe(3);
});

it('a Redis that returns again and again is told by one loop, and finally of sessions that ended meanwhile', async () => {
  let takes = false;
  let returns: () => void = () => undefined;
  const asked: { readonly token: string; readonly atMs: number }[] = [];
  const cache = partly<SessionCache>({
    onReturn: (listener: () => void) => {
      returns = listener;
    },
    distrust: async (hash: Buffer) => {
      asked.push({ token: String(hash), atMs: performance.now() });
      return takes;
    },
  });
  const logger = partly<Logger>({ warn: vi.fn() });
  const ends = new SessionEnds({ cache, clock: new TestClock(), logger });
  const commit = async () => undefined;
  await ends.commit('alpha', [Buffer.from('first')], commit);
  for (let time = 0; time < 20; time += 1) returns();
  const patient = { timeout: 10_000 };
  await expect.poll(() => asked.length, patient).toBeGreaterThanOrEqual(6);
  // Twice for the commit, once at once, and from then on once a second.
  const tries = asked.slice(2).map(({ atMs }) => atMs);
  for (const [at, triedMs] of tries.slice(1).entries()) {
    expect(triedMs - (tries[at] ?? 0)).toBeGreaterThan(900);
  }
  await ends.commit('alpha', [Buffer.from('second')], commit);
  takes = true;
  const last = () => asked.slice(-2).map(({ token }) => token);
  await expect.poll(last, patient).toEqual(['first', 'second']);
});

it('Redis is told about a session that ends at the very moment in which it has heard of the others', async () => {
  const asked: string[] = [];
  let commit: (token: string) => Promise<void>;
  const second = Promise.withResolvers<void>();
  const cache = partly<SessionCache>({
    onReturn: () => undefined,
    distrust: async (hash: Buffer) => {
      asked.push(String(hash));
      // It gets through at the third try, and at that moment another session ends.
      if (asked.length === 3) void commit('second').then(second.resolve);
      const times = asked.filter((token) => token === String(hash)).length;
      return times >= 3;
    },
  });
  const logger = partly<Logger>({ warn: vi.fn() });
  const ends = new SessionEnds({ cache, clock: new TestClock(), logger });
  commit = (token) => ends.commit('alpha', [Buffer.from(token)], async () => undefined);
  await commit('first');
  await second.promise;
  const ofSecond = () => asked.filter((token) => token === 'second').length;
  await expect.poll(ofSecond, { timeout: 5_000 }).toBe(3);
});

it('an ended session that Redis may have to hear of again occupies no more than its own bytes', async () => {
  let returns: () => void = () => undefined;
  const told: Buffer[] = [];
  const cache = partly<SessionCache>({
    onReturn: (listener: () => void) => {
      returns = listener;
    },
    distrust: async (hash: Buffer) => told.push(hash) > 0,
  });
  const logger = partly<Logger>({ warn: vi.fn() });
  const ends = new SessionEnds({ cache, clock: new TestClock(), logger });
  // As `pg` reads it: a part of the memory that Node shares among small buffers, 64 KiB at a time.
  const hash = Buffer.from(randomBytes(32).toString('hex'), 'hex');
  expect(hash.buffer.byteLength).toBe(Buffer.poolSize);
  await ends.commit('alpha', [hash], async () => undefined);
  returns();
  await expect.poll(() => told).toHaveLength(2);
  expect(told.map((one) => one.equals(hash))).toEqual([true, true]);
  expect(told.at(-1)?.buffer.byteLength).toBe(hash.length);
});
