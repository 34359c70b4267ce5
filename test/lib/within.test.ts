import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { OutOfTime, within, withinOrArrived } from '../../src/lib/within.ts';

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
});

it('waits for what comes in time, passes its failure on, and keeps no timer', async () => {
  await expect(within(1_000, Promise.resolve('in time'))).resolves.toBe('in time');
  const broken = new Error('broken');
  await expect(within(1_000, Promise.reject(broken))).rejects.toBe(broken);
  expect(vi.getTimerCount()).toBe(0);
});

it('gives up on what never comes, and not before its time (I1)', async () => {
  const told = vi.fn();
  within(1_000.4, new Promise(() => undefined)).catch(told);
  await vi.advanceTimersByTimeAsync(999);
  expect(told).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2);
  expect(told.mock.calls).toEqual([[new OutOfTime(1_000)]]);
  expect(vi.getTimerCount()).toBe(0);
});

it('gives up at once where the time is over already, without a warning from Node on stderr', async () => {
  vi.useRealTimers();
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  onTestFinished(() => warned.mockRestore());
  await expect(within(-74, new Promise(() => undefined))).rejects.toThrow(OutOfTime);
  expect(warned).not.toHaveBeenCalled();
});

/** Another thread looks at a file meanwhile: its answer has come in time, and this process has not read it. */
function busyWith(asked: Promise<Stats>): Promise<Stats> {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  return asked;
}

it('takes what came in time although this process was too busy to look at it, if it may be late for that', async () => {
  vi.useRealTimers();
  const found = await busyWith(withinOrArrived(50, stat(import.meta.filename)));
  expect(found.isFile()).toBe(true);
  await expect(withinOrArrived(1, new Promise(() => undefined))).rejects.toThrow(OutOfTime);
});

it('gives up for a caller before it reads on: what else has come may take long (I1)', async () => {
  vi.useRealTimers();
  const told: string[] = [];
  const over = within(50, new Promise(() => undefined)).catch(() => told.push('gave up'));
  await busyWith(stat(import.meta.filename).finally(() => told.push('read')));
  await over;
  expect(told).toEqual(['gave up', 'read']);
});
