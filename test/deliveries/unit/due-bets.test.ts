import { DatabaseError } from 'pg';
import { expect, it, vi } from 'vitest';
import { forEachDueBet } from '../../../src/deliveries/due-bets.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { partly } from '../../support/partly.ts';

const BATCH = 200;

/**
 * Due bets: this many with unreadable rows, and behind them readable ones, which are no longer due once they are
 * done.
 */
function duty(unreadable: number, sound: number) {
  const broken = new Set(Array.from({ length: unreadable }, (_, at) => `odd-${at}`));
  const due = [...broken, ...Array.from({ length: sound }, (_, at) => `sound-${at}`)].map(
    (transactionId) => ({ transactionId }),
  );
  const tried = vi.fn((_transactionId: string) => undefined);
  const error = vi.fn();
  const look = async (limit: number) => due.slice(0, limit);
  const which = { batch: BATCH, look, passedOver: new Set<string>() };
  const sweep = () =>
    forEachDueBet(partly<Logger>({ error }), which, async (bet) => {
      tried(bet.transactionId);
      if (broken.has(bet.transactionId)) {
        throw Object.assign(new DatabaseError('violates', 0, 'error'), { code: '23514' });
      }
      due.splice(due.indexOf(bet), 1);
      return true;
    });
  return { sweep, error, tried, mend: (id: string) => broken.delete(id) };
}

it('those that cannot be read keep none waiting behind them, however many sweeps it takes to pass them', async () => {
  const { sweep, error } = duty(2_500, 3);
  expect(await sweep()).toBe(0);
  expect(await sweep()).toBe(0);
  expect(await sweep()).toBe(3);
  // Each sweep names some of them, and counts the others.
  const more = error.mock.calls.filter(([, line]) => line === 'bet.more_unreadable');
  expect(more.map(([facts]) => facts)).toEqual([{ more: 980 }, { more: 980 }, { more: 480 }]);
});

it('after that they are looked at again: somebody may have repaired them', async () => {
  const { sweep, mend, tried } = duty(1_200, 1);
  await sweep();
  expect(tried).not.toHaveBeenCalledWith('odd-1100');
  expect(await sweep()).toBe(1);
  mend('odd-0');
  expect(await sweep()).toBe(1);
});

it('where others wait in numbers, a batch of them is done each second time at least', async () => {
  const { sweep } = duty(1_200, 1_000);
  const done = [await sweep(), await sweep(), await sweep(), await sweep()];
  expect(done.filter((count) => count >= BATCH / 2).length).toBeGreaterThanOrEqual(2);
});

it('a few are done at a time, because each takes several round trips to PostgreSQL', async () => {
  const due = Array.from({ length: 12 }, (_, at) => ({ transactionId: `bet-${at}` }));
  const which = { batch: BATCH, look: async () => due, passedOver: new Set<string>() };
  let [underWay, most] = [0, 0];
  await forEachDueBet(partly<Logger>({}), which, async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    return true;
  });
  expect(most).toBe(4);
});
