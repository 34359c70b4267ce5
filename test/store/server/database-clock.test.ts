import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadline } from '../../../src/domain/deadline.ts';
import { Database } from '../../../src/store/database.ts';
import { DatabaseClock } from '../../../src/store/server/database-clock.ts';

/** How far PostgreSQL's clock is from this process's monotonic one. */
const APART_MS = 1_000_000;

/** Returns its own time only after a while, as over a slow network. */
class SlowDatabase extends Database {
  wayBackMs = 0;
  apartMs = APART_MS;
  readonly #clock: { ms: number };

  constructor(clock: { ms: number }) {
    const url = 'postgres://nobody@127.0.0.1:1/none';
    super({ url, connectionsMax: 1, onIdleError: () => undefined });
    this.#clock = clock;
  }

  override async query() {
    const now_ms = this.#clock.ms + this.apartMs;
    this.#clock.ms += this.wayBackMs;
    return [{ now_ms }];
  }
}

describe("a caller's deadline by PostgreSQL's clock", () => {
  const time = { ms: 5_000 };
  const clock = { nowMs: () => 0, monotonicMs: () => time.ms };
  const deadline = () => new Deadline(clock, time.ms, 4_800, 300);
  let database: SlowDatabase;
  let databaseClock: DatabaseClock;
  beforeEach(() => {
    time.ms = 5_000;
    database = new SlowDatabase(time);
    databaseClock = new DatabaseClock(database, clock);
  });
  afterEach(async () => {
    vi.useRealTimers();
    databaseClock.close();
    await database.close();
  });

  it('is never later than its own, and early by at most the way back of the look (I11)', async () => {
    database.wayBackMs = 40;
    const caller = deadline();
    const endsAtMs = time.ms + 4_750 + APART_MS;
    expect((await databaseClock.limitOf(caller)).getTime()).toBe(endsAtMs - 40);
  });

  it('is the same for all writes of a caller, whatever is known of the clocks since (I11)', async () => {
    database.wayBackMs = 40;
    const caller = deadline();
    const limit = await databaseClock.limitOf(caller);
    time.ms += 31_000;
    database.wayBackMs = 0;
    await databaseClock.limitOf(deadline());
    expect(databaseClock.limitNow(caller)).toBe(limit);
    expect(await databaseClock.limitOf(caller)).toBe(limit);
  });

  it('is over for a caller that has hung up or was answered, whatever was left of its time (I11)', async () => {
    const caller = deadline();
    await databaseClock.limitOf(caller);
    caller.end();
    const nowMs = time.ms + APART_MS;
    expect(databaseClock.limitNow(caller).getTime()).toBeLessThan(nowMs);
    expect((await databaseClock.limitOf(caller)).getTime()).toBeLessThan(nowMs);
  });

  it('is by the clock of the server that answers now, where that is behind the one before (I11)', async () => {
    await databaseClock.limitOf(deadline());
    database.wayBackMs = 40;
    database.apartMs -= 2_000;
    vi.useFakeTimers({ toFake: ['setInterval'] });
    databaseClock.start();
    await vi.advanceTimersByTimeAsync(1_000);
    const limitMs = databaseClock.limitNow(deadline()).getTime();
    expect(limitMs).toBe(time.ms + 4_750 + database.apartMs - 40);
  });

  it('is not told from a comparison of half a minute ago: the server may be another (I11)', async () => {
    await databaseClock.limitOf(deadline());
    time.ms += 29_999;
    expect(databaseClock.isKnown).toBe(true);
    time.ms += 2;
    expect(databaseClock.isKnown).toBe(false);
    expect(() => databaseClock.limitNow(deadline())).toThrow("PostgreSQL's clock is not known");
    await databaseClock.limitOf(deadline());
    expect(databaseClock.isKnown).toBe(true);
  });
});
