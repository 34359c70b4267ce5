import { expect, it, vi } from 'vitest';
import { Bookkeeper, type Bookkeeping } from '../../src/books/bookkeeper.ts';
import { GatewayError } from '../../src/domain/errors.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { partly } from '../support/partly.ts';
import { TestClock } from '../support/test-clock.ts';
import { PATIENT_MS } from '../support/timing.ts';

type Run = (statement: { name: string }, input: unknown) => Promise<unknown[]>;

function bookkeeperOn(run: Run, clock = new TestClock()) {
  const [warn, error] = [vi.fn(), vi.fn()];
  const metrics = createMetrics();
  const bookkeeper = new Bookkeeper(
    partly<Bookkeeping>({
      runner: { run },
      databaseUrl: 'postgresql://127.0.0.1:9/none',
      configuration: () => ({ operators: new Map(), gateway: { books: { timeZone: 'UTC' } } }),
      clock,
      logger: { warn, error, info: vi.fn() },
      metrics,
    }),
  );
  bookkeeper.start();
  return { bookkeeper, warn, error, metrics };
}

const openDays = (input: unknown) => [
  { days: `[${JSON.stringify(input)}]`, firstDay: '2026-11-20' },
];

it('checks the days of others where one operator’s sums take too long (I7)', async () => {
  const checked: unknown[] = [];
  const { bookkeeper, warn, error } = bookkeeperOn(async ({ name }, input) => {
    if (name === 'books-operators-of-open-days') return ['alpha', 'beta'];
    if (name === 'books-compare-days') return [1];
    if (name !== 'books-read-open-days') return [];
    checked.push(input);
    if (JSON.stringify(input).includes('alpha'))
      throw new GatewayError('DATABASE_UNAVAILABLE', 'statement timeout');
    return openDays(input);
  });
  await vi.waitFor(
    () => expect(error).toHaveBeenCalledWith(expect.anything(), 'books.violated'),
    PATIENT_MS,
  );
  // A day that differs is summed up again.
  const [alpha, beta] = [{ operatorId: 'alpha' }, { operatorId: 'beta' }];
  expect(checked).toEqual([alpha, beta, beta]);
  const failed = { duty: 'check_days', operator: 'alpha', err: expect.any(GatewayError) };
  expect(warn).toHaveBeenCalledWith(failed, 'books.duty_failed');
  await bookkeeper.close();
});

it('says whose day it could not close', async () => {
  const { bookkeeper, warn } = bookkeeperOn(async ({ name }) => {
    if (name === 'books-read-cursor') return [{ version: '1', at: {}, timeZone: 'UTC' }];
    if (name === 'books-due-days') return [{ operatorId: 'alpha', day: '2026-11-20' }];
    if (name !== 'books-keeps-open') return [];
    throw new GatewayError('DATABASE_UNAVAILABLE', 'statement timeout');
  });
  const failed = { duty: 'close', operator: 'alpha', err: expect.any(GatewayError) };
  await vi.waitFor(
    () => expect(warn).toHaveBeenCalledWith(failed, 'books.duty_failed'),
    PATIENT_MS,
  );
  await bookkeeper.close();
});

it('books on while the sums of a day take their time, and ends with what is under way (I7)', async () => {
  const { promise: summed, resolve: endStretch } = Promise.withResolvers<void>();
  let [stretches, looks] = [0, 0];
  const { bookkeeper } = bookkeeperOn(async ({ name }, input) => {
    if (name === 'books-read-entries') looks += 1;
    if (name === 'books-read-cursor') return [{ version: '1', at: {}, timeZone: 'UTC' }];
    if (name === 'books-operators-of-open-days') return ['alpha', 'beta'];
    if (name === 'books-read-open-days') return openDays(input);
    if (name !== 'books-sum-stretch') return [];
    stretches += 1;
    await summed;
    return [{ sums: '[]', next: {} }];
  });
  await vi.waitFor(() => expect(stretches).toBe(1), PATIENT_MS);
  const before = looks;
  await vi.waitFor(() => expect(looks).toBeGreaterThan(before + 1), { timeout: 10_000 });
  const closed = bookkeeper.close();
  endStretch();
  await closed;
  expect(stretches).toBe(1);
});

it.each([
  ['none where all was booked', 0, []],
  // What is on its way at any moment was most likely booked a moment later: "not booked for hours" would be made up.
  ['none where the books were keeping up', 0.03, []],
  ['none where a slow call was just being booked', 59, []],
  // What was not booked then is no younger.
  ['one that grows where something was not', 700, [707]],
] as const)(
  'shows, once its lag cannot be read, %s: a kept value would hide what other processes tell',
  async (_, seconds, shown) => {
    const clock = new TestClock();
    let reads = 0;
    const { bookkeeper, warn, metrics } = bookkeeperOn(async ({ name }) => {
      if (name !== 'books-lag') return [];
      reads += 1;
      if (reads === 1) return [seconds];
      clock.atMs += 7_000;
      throw new GatewayError('DATABASE_UNAVAILABLE', 'statement timeout');
    }, clock);
    const failed = { duty: 'lag', err: expect.any(GatewayError) };
    await vi.waitFor(
      () => expect(warn).toHaveBeenCalledWith(failed, 'books.duty_failed'),
      PATIENT_MS,
    );
    await bookkeeper.close();
    expect((await metrics.booksLag.get()).values.map(({ value }) => value)).toEqual(shown);
  },
);

it('tells by rule how many violations are on record, for the alert, and 0 once they are mended (I12)', async () => {
  let found = [{ rule: 'bet', count: 2 }];
  const { bookkeeper, metrics } = bookkeeperOn(async ({ name }) => {
    if (name === 'books-check-bets') return [{ lookedAt: 1, wrong: 0 }];
    return name === 'books-count-violations' ? found : [];
  });
  const told = async () => {
    const { values } = await metrics.booksViolations.get();
    return values.filter(({ value }) => value > 0).map(({ labels, value }) => [labels.rule, value]);
  };
  await expect.poll(told, { timeout: PATIENT_MS }).toEqual([['bet', 2]]);
  found = [];
  await expect.poll(told, { timeout: PATIENT_MS }).toEqual([]);
  await bookkeeper.close();
});

it('reads closed days again, and says so where one is not as it was closed (I12)', async () => {
  const noted: unknown[] = [];
  const { bookkeeper, error } = bookkeeperOn(async ({ name }, input) => {
    if (name === 'books-note-violation') noted.push(input);
    if (name !== 'books-next-closed-day') return [];
    const isFirst = JSON.stringify(input).includes('infinity');
    const closed = { operatorId: 'alpha', day: '2026-11-20', movements: 1, sha256: 'of one line' };
    return isFirst ? [closed] : [];
  });
  await vi.waitFor(
    () =>
      expect(error).toHaveBeenCalledWith({ wrong: 1, why: expect.any(String) }, 'books.violated'),
    PATIENT_MS,
  );
  await bookkeeper.close();
  expect(noted).toMatchObject([[{ rule: 'statement', subject: 'alpha/2026-11-20' }]]);
});
