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
  await expect.poll(told).toBe(3);
});
