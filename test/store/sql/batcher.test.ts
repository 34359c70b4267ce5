import { afterEach, expect, it, vi } from 'vitest';
import { Batcher, type BatcherOptions } from '../../../src/store/sql/batcher.ts';

class RowError extends Error {}
class Refused extends Error {}

/** A statement that the test finishes by hand. */
interface Run {
  readonly rows: readonly string[];
  readonly end: PromiseWithResolvers<readonly string[]>;
}

function batcher(options: Partial<BatcherOptions<string, string>> = {}) {
  const runs: Run[] = [];
  const subject = new Batcher<string, string>({
    concurrency: 1,
    waitingMax: 1_000,
    isRowError: (error) => error instanceof RowError,
    refused: (why) => new Refused(why),
    run: (rows) => {
      const run = { rows, end: Promise.withResolvers<readonly string[]>() };
      runs.push(run);
      return run.end.promise;
    },
    ...options,
  });
  return { subject, runs };
}

afterEach(() => {
  vi.useRealTimers();
});

const turn = () => new Promise((resolve) => setImmediate(resolve));
const upper = (rows: readonly string[]) => rows.map((row) => row.toUpperCase());

it('writes what arrives in one turn of the loop in one statement', async () => {
  const { subject, runs } = batcher();
  const results = Promise.all(['a', 'b', 'c'].map((row) => subject.add(row)));
  await turn();
  expect(runs.map(({ rows }) => rows)).toEqual([['a', 'b', 'c']]);
  runs[0]?.end.resolve(upper(runs[0].rows));
  expect(await results).toEqual(['A', 'B', 'C']);
});

it('gathers while a statement is in flight, and writes on when it has ended', async () => {
  const { subject, runs } = batcher({ concurrency: 2 });
  const results: Promise<string>[] = [];
  for (const row of ['a', 'b', 'c']) {
    results.push(subject.add(row));
    await turn();
  }
  expect(runs.map(({ rows }) => rows)).toEqual([['a']]);
  runs[0]?.end.resolve(['A']);
  expect(await results[0]).toBe('A');
  await turn();
  await turn();
  expect(runs[1]?.rows).toEqual(['b', 'c']);
});

it('begins another statement beside one that takes long, and no third one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { subject, runs } = batcher({ concurrency: 2 });
  const results: Promise<string>[] = [];
  for (const row of ['a', 'b', 'c', 'd']) {
    results.push(subject.add(row));
    await turn();
    vi.advanceTimersByTime(3);
    await turn();
  }
  expect(runs.map(({ rows }) => rows)).toEqual([['a'], ['b']]);
  runs[1]?.end.resolve(['B']);
  expect(await results[1]).toBe('B');
  await turn();
  await turn();
  expect(runs[2]?.rows).toEqual(['c', 'd']);
});

it('never writes more than 256 rows in one statement', async () => {
  const sizes: number[] = [];
  const { subject } = batcher({
    run: async (rows) => {
      sizes.push(rows.length);
      return upper(rows);
    },
  });
  const rows = Array.from({ length: 600 }, (_, index) => `row ${index}`);
  const results = await Promise.all(rows.map((row) => subject.add(row)));
  expect(results).toEqual(upper(rows));
  expect(sizes).toEqual([256, 256, 88]);
});

it('refuses at once what could only wait in vain', async () => {
  const { subject } = batcher({ waitingMax: 2 });
  const waiting = [subject.add('a'), subject.add('b')];
  await expect(subject.add('c')).rejects.toBeInstanceOf(Refused);
  expect(waiting).toHaveLength(2);
});

it('does not write what its caller has given up, whatever waits beside it (I3)', async () => {
  const { subject, runs } = batcher();
  const first = subject.add('first');
  await turn();
  let wanted = true;
  const unwanted = subject.add('unwanted', () => wanted);
  const other = subject.add('other');
  wanted = false;
  runs[0]?.end.resolve(['FIRST']);
  await first;
  await expect(unwanted).rejects.toBeInstanceOf(Refused);
  expect(runs[1]?.rows).toEqual(['other']);
  runs[1]?.end.resolve(['OTHER']);
  expect(await other).toBe('OTHER');
});

it('tries a failed batch row by row, so that one poisoned row costs only itself', async () => {
  const tried: (readonly string[])[] = [];
  const { subject } = batcher({
    run: async (rows) => {
      tried.push(rows);
      if (rows.includes('poison')) throw new RowError('invalid byte sequence');
      return upper(rows);
    },
  });
  const results = await Promise.allSettled(['a', 'poison', 'b'].map((row) => subject.add(row)));
  expect(results).toMatchObject([
    { status: 'fulfilled', value: 'A' },
    { status: 'rejected', reason: new RowError('invalid byte sequence') },
    { status: 'fulfilled', value: 'B' },
  ]);
  expect(tried).toEqual([['a', 'poison', 'b'], ['a'], ['poison'], ['b']]);
});

it('fails a whole batch at once where the server is to blame', async () => {
  const { subject, runs } = batcher();
  const results = Promise.allSettled([subject.add('a'), subject.add('b')]);
  await turn();
  const lost = new Error('connection lost');
  runs[0]?.end.reject(lost);
  expect(await results).toMatchObject([{ reason: lost }, { reason: lost }]);
  expect(runs).toHaveLength(1);
});

it('gives a statement no further row once it weighs much', async () => {
  const sizes: number[] = [];
  const { subject } = batcher({
    bytesOf: () => 900_000,
    run: async (rows) => {
      sizes.push(rows.length);
      return upper(rows);
    },
  });
  const rows = Array.from({ length: 7 }, (_, index) => `row ${index}`);
  expect(await Promise.all(rows.map((row) => subject.add(row)))).toEqual(upper(rows));
  expect(sizes).toEqual([3, 3, 1]);
});

it('goes on past statements that are not answered, a few of them at most (I7)', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { subject, runs } = batcher({ concurrency: 2 });
  for (let round = 0; round < 10; round += 1) {
    for (const row of ['a', 'b']) {
      subject.add(`${row}${round}`).catch(() => undefined);
      await turn();
      vi.advanceTimersByTime(3);
    }
    vi.advanceTimersByTime(1_000);
    await turn();
  }
  expect(runs.map(({ rows }) => rows)).toEqual([
    ...[['a0'], ['b0'], ['a1'], ['b1'], ['a2'], ['b2'], ['a3'], ['b3']],
  ]);
  for (const { rows, end } of runs.splice(0)) end.resolve(upper(rows));
  await turn();
  await turn();
  expect(runs.flatMap(({ rows }) => rows)).toHaveLength(12);
});
