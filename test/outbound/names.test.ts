import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { type AddressLookup, Names } from '../../src/outbound/names.ts';

const OLD = [{ address: '192.0.2.1', family: 4 }];
const NEW = [{ address: '192.0.2.2', family: 4 }];
const ALL = { all: true } as const;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const error = (code: string) => Object.assign(new Error(code), { code });

/** Name look-ups that wait until the test answers them. */
function names(atOnce = 8) {
  const asked = new Map<string, Parameters<AddressLookup>[2]>();
  const unanswered: string[] = [];
  const resolve: AddressLookup = (hostname, _options, done) => {
    expect(asked.has(hostname)).toBe(false);
    asked.set(hostname, done);
  };
  const all = new Names({ resolve, clock: systemClock, atOnce });
  return {
    asked: () => [...asked.keys()],
    unanswered,
    answer(hostname: string, ...answer: Parameters<Parameters<AddressLookup>[2]>) {
      const done = asked.get(hostname);
      asked.delete(hostname);
      done?.(...answer);
    },
    /** The result of the look-up: its addresses or its error; undefined while it waits. */
    find(hostname: string): { readonly outcome: unknown } {
      const found: { outcome: unknown } = { outcome: undefined };
      all.find(hostname, ALL, {
        done: (failed, addresses) => {
          expect(found.outcome).toBeUndefined();
          found.outcome = failed?.message ?? addresses;
        },
        onUnanswered: () => unanswered.push(hostname),
      });
      return found;
    },
  };
}

describe('a name', () => {
  it('is asked for once, for all that wait (I7)', () => {
    const { asked, answer, find } = names();
    const three = [find('a'), find('a'), find('a')];
    expect(asked()).toEqual(['a']);
    answer('a', null, OLD);
    expect(three).toEqual([{ outcome: OLD }, { outcome: OLD }, { outcome: OLD }]);
    find('a');
    expect(asked()).toEqual(['a']);
  });

  it('that was never answered is waited for, and fails as it fails', async () => {
    const { answer, find, unanswered } = names();
    const one = find('a');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(one.outcome).toBeUndefined();
    answer('a', error('EAI_AGAIN'), []);
    expect(one.outcome).toBe('EAI_AGAIN');
    expect(unanswered).toEqual([]);
  });

  it('that nobody answers for has its last addresses: after a second, and from then on at once (I7)', async () => {
    const { answer, find, unanswered } = names();
    find('a');
    answer('a', null, OLD);
    const first = find('a');
    await vi.advanceTimersByTimeAsync(999);
    expect(first.outcome).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(first.outcome).toEqual(OLD);
    const second = find('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(second.outcome).toEqual(OLD);
    answer('a', error('EAI_AGAIN'), []);
    const third = find('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(third.outcome).toEqual(OLD);
    expect(unanswered).toEqual(['a']);
  });

  it('that is answered again has its new addresses, and its next silence is reported again', async () => {
    const { answer, find, unanswered } = names();
    find('a');
    answer('a', null, OLD);
    find('a');
    await vi.advanceTimersByTimeAsync(1_000);
    answer('a', null, NEW);
    // That answer was slow: nobody waits again until one is fast.
    const soon = find('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(soon.outcome).toEqual(NEW);
    answer('a', null, NEW);
    find('a');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(unanswered).toEqual(['a', 'a']);
  });

  it('that was slow once is waited for again a minute later: it may stand for other machines by then (I5)', async () => {
    const { answer, find } = names();
    find('a');
    await vi.advanceTimersByTimeAsync(1_500);
    answer('a', null, OLD);
    const soon = find('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(soon.outcome).toEqual(OLD);
    await vi.advanceTimersByTimeAsync(1_500);
    answer('a', null, OLD);
    await vi.advanceTimersByTimeAsync(60_000);
    const later = find('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(later.outcome).toBeUndefined();
    answer('a', null, NEW);
    expect(later.outcome).toEqual(NEW);
  });

  it('has its last addresses for a temporary failure, and none once it does not exist', () => {
    const { answer, find } = names();
    find('a');
    answer('a', null, OLD);
    const one = find('a');
    answer('a', error('EAI_AGAIN'), []);
    expect(one.outcome).toEqual(OLD);
    const two = find('a');
    answer('a', error('ENOTFOUND'), []);
    expect(two.outcome).toBe('ENOTFOUND');
    const three = find('a');
    answer('a', error('EAI_AGAIN'), []);
    expect(three.outcome).toBe('EAI_AGAIN');
  });

  it('has its last addresses for an hour, not longer', async () => {
    const { answer, find } = names();
    find('a');
    answer('a', null, OLD);
    await vi.advanceTimersByTimeAsync(3_600_000);
    const late = find('a');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(late.outcome).toBeUndefined();
    answer('a', error('EAI_AGAIN'), []);
    expect(late.outcome).toBe('EAI_AGAIN');
  });
});

describe('names that are not answered', () => {
  const DEAD = ['dead-1', 'dead-2', 'dead-3', 'dead-4'] as const;

  it('take half of the threads once that is known, and the others are asked beside them (I7)', async () => {
    const { asked, answer, find } = names(4);
    for (const name of DEAD) find(name);
    const waiting = find('well');
    expect(asked()).toEqual(DEAD);
    await vi.advanceTimersByTimeAsync(10_000);
    // Each thread that becomes free goes to a look-up that has waited.
    for (const name of DEAD) answer(name, error('EAI_AGAIN'), []);
    expect(asked()).toEqual(['well']);
    answer('well', null, OLD);
    expect(waiting.outcome).toEqual(OLD);
    for (const name of DEAD) find(name);
    expect(asked()).toEqual(['dead-1', 'dead-2']);
    const next = [find('well'), find('new')];
    expect(asked()).toEqual(['dead-1', 'dead-2', 'well', 'new']);
    answer('well', null, NEW);
    answer('new', null, NEW);
    expect(next).toEqual([{ outcome: NEW }, { outcome: NEW }]);
    expect(asked()).toEqual(['dead-1', 'dead-2']);
    answer('dead-1', error('EAI_AGAIN'), []);
    expect(asked()).toEqual(['dead-2', 'dead-3']);
  });

  it('delay no call whose addresses are known, even if they occupy all threads (I7)', async () => {
    const { asked, answer, find } = names(1);
    find('well');
    answer('well', null, OLD);
    find('dead-1');
    const well = find('well');
    expect(asked()).toEqual(['dead-1']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(well.outcome).toEqual(OLD);
  });
});
