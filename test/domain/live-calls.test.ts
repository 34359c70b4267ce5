import { beforeEach, describe, expect, it } from 'vitest';
import { LiveCalls } from '../../src/domain/live-calls.ts';
import { TestClock } from '../support/test-clock.ts';

/** Deliveries a second that empty a backlog of 20,000 in ten minutes. */
const LEAST_PER_SECOND = 20_000 / 600;
/** What a live call waits while no delivery begins. */
const ALONE_MS = 4;
const FAR = Number.POSITIVE_INFINITY;

let clock: TestClock;
let liveCalls: LiveCalls;
/** Deliveries that began in the last second. */
let perSecond = 0;
beforeEach(() => {
  clock = new TestClock();
  liveCalls = new LiveCalls(clock);
  perSecond = 0;
});

function pass(ms: number): void {
  clock.wallMs += ms;
  clock.atMs += ms;
}

/** Takes all turns that begin at once, soon after a live call. @returns how many deliveries that is */
function drainNow(): number {
  let count = 0;
  while (liveCalls.waitMs === 0) count += liveCalls.turn(5_000, FAR)?.count ?? 0;
  return count;
}

/** A live call every 10 ms beside a drain. @returns the deliveries that began in the last second */
async function drained(seconds: number, besideMs: () => number): Promise<number> {
  for (let second = 0; second < seconds; second += 1) {
    let begun = 0;
    const endsAtMs = clock.wallMs + 1_000;
    while (clock.wallMs < endsAtMs) {
      const waitMs = clock.wallMs % 1_000 < 200 ? ALONE_MS : besideMs();
      await liveCalls.begin(async () => pass(waitMs));
      begun += drainNow();
      pass(Math.max(0, 10 - waitMs));
    }
    perSecond = begun;
  }
  return perSecond;
}

const unharmed = () => ALONE_MS;
const slowed = () => 4 * ALONE_MS;

describe('deliveries beside live calls', () => {
  it('begin all at once while no live call comes (I7)', async () => {
    expect(liveCalls.turn(5_000, FAR)).toEqual({ count: 5_000, inMs: 0 });
    await liveCalls.begin(async () => pass(1));
    expect(liveCalls.turn(5_000, FAR)?.count).toBeLessThan(5_000);
    pass(100);
    expect(liveCalls.turn(5_000, FAR)).toEqual({ count: 5_000, inMs: 0 });
  });

  it('yield to a live call that waits for long, although no other comes', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = liveCalls.begin(() => promise);
    pass(5_000);
    expect(liveCalls.turn(5_000, FAR)?.count).toBeLessThan(5_000);
    resolve();
    await waiting;
  });

  it('grow in number while live calls wait no longer than alone', async () => {
    const first = await drained(1, unharmed);
    expect(await drained(10, unharmed)).toBeGreaterThan(3 * first);
  });

  it('become fewer as soon as live calls wait longer than in a pause (I7)', async () => {
    const before = await drained(10, unharmed);
    expect(await drained(4, slowed)).toBeLessThan(before / 2);
  });

  it('do not become fewer because of one stall', async () => {
    const before = await drained(10, unharmed);
    let calls = 0;
    const stalledOnce = () => {
      calls += 1;
      return calls === 1 ? 300 : ALONE_MS;
    };
    expect(await drained(2, stalledOnce)).toBeGreaterThan(before);
  });

  it('never become fewer than what empties 20,000 in ten minutes, however slow live calls are', async () => {
    expect(await drained(30, slowed)).toBeGreaterThanOrEqual(LEAST_PER_SECOND);
  });

  it('recover once live calls are fast again', async () => {
    const least = await drained(30, slowed);
    expect(await drained(15, unharmed)).toBeGreaterThan(5 * least);
  });

  it('settle near the number that slows live calls down', async () => {
    const fromThere = () => (perSecond > 1_000 ? slowed() : ALONE_MS);
    await drained(30, fromThere);
    const seconds: number[] = [];
    for (let n = 0; n < 20; n += 1) seconds.push(await drained(1, fromThere));
    expect(Math.min(...seconds)).toBeGreaterThan(200);
    expect(Math.max(...seconds)).toBeLessThan(2_000);
  });

  it('do not grow in number by what a slow wallet leaves unused', async () => {
    const first = await drained(1, unharmed);
    for (let second = 0; second < 20; second += 1) {
      await liveCalls.begin(async () => pass(ALONE_MS));
      pass(1_000 - ALONE_MS);
    }
    expect(await drained(1, unharmed)).toBeLessThan(2 * first);
  });

  it('that missed their turns catch up a quarter of a second at most', async () => {
    await drained(1, unharmed);
    const inTime = await drained(1, unharmed);
    pass(900);
    await liveCalls.begin(async () => pass(1));
    expect(drainNow()).toBeLessThan(inTime / 2);
  });

  it('have no turn after the end of their slice', async () => {
    await liveCalls.begin(async () => pass(1));
    drainNow();
    const { waitMs } = liveCalls;
    expect(liveCalls.turn(1, clock.atMs + waitMs)).toBeUndefined();
    expect(liveCalls.turn(1, clock.atMs + waitMs + 1)).toEqual({ count: 1, inMs: waitMs });
  });

  it('have none in a pause either, in which all processes measure at once', async () => {
    clock.wallMs = 5_010;
    await liveCalls.begin(async () => pass(1));
    expect(liveCalls.turn(1, FAR)).toEqual({ count: 1, inMs: 189 });
  });

  it('passes on what the call throws', async () => {
    await expect(liveCalls.begin(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    pass(100);
    expect(liveCalls.waitMs).toBe(0);
  });
});
