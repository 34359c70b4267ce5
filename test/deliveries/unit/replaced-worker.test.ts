import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { PatientWorker } from '../../../src/deliveries/patient-worker.ts';
import { ReplacedWorker } from '../../../src/deliveries/replaced-worker.ts';
import type { RedisConnection } from '../../../src/redis/connect.ts';
import type { Logger } from '../../../src/telemetry/logger.ts';
import { partly } from '../../support/partly.ts';

const LOOK_MS = 5_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** A worker whose rounds the test counts. */
function scene() {
  const opened: { asked: number; closing: unknown; close: () => Promise<void> }[] = [];
  const disconnected = vi.fn();
  const logger = { debug: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const state = { isBusy: false, answers: true };
  const run = vi.fn(() => new Promise<void>(() => undefined));
  const replaced = new ReplacedWorker({
    logger: partly<Logger>(logger),
    lookEveryMs: LOOK_MS,
    open: () => {
      const number = opened.length;
      const closing: unknown = undefined;
      const fake = Object.assign(new EventEmitter(), { asked: 0, closing, run, close: vi.fn() });
      fake.close.mockImplementation(() => new Promise<void>(() => undefined));
      opened.push(fake);
      const disconnect = () => void disconnected(number);
      return {
        worker: fake as unknown as PatientWorker,
        connection: partly<RedisConnection>({ disconnect }),
      };
    },
    isBusy: () => state.isBusy,
    answers: async () => state.answers,
  });
  onTestFinished(() => void replaced.close());
  const looks = async (count: number, each: () => void = () => undefined) => {
    for (let look = 0; look < count; look += 1) {
      each();
      await vi.advanceTimersByTimeAsync(LOOK_MS);
    }
  };
  replaced.start();
  return { opened, disconnected, logger, state, run, replaced, looks };
}

it('a worker that no longer asks for work is replaced, once (I4)', async () => {
  const { opened, disconnected, logger, run, looks } = scene();
  await looks(3, () => {
    for (const worker of opened) worker.asked += 1;
  });
  await looks(4);
  expect(opened).toHaveLength(1);
  await looks(1);
  expect(opened).toHaveLength(2);
  expect(run).toHaveBeenCalledTimes(2);
  expect(opened[0]?.close).toHaveBeenCalledWith(true);
  expect(disconnected.mock.calls).toEqual([[0]]);
  expect(logger.warn.mock.calls.map(([, event]) => event)).toEqual(['scheduler.worker_replaced']);
  await looks(10, () => {
    for (const worker of opened.slice(1)) worker.asked += 1;
  });
  expect(opened).toHaveLength(2);
});

it('one that works, or that asks, is left alone', async () => {
  const { opened, state, looks } = scene();
  state.isBusy = true;
  await looks(20);
  state.isBusy = false;
  await looks(20, () => {
    for (const worker of opened) worker.asked += 1;
  });
  expect(opened).toHaveLength(1);
});

it('one whose Redis is away is left alone, and gets a moment once that answers', async () => {
  const { opened, state, looks } = scene();
  state.answers = false;
  await looks(20);
  expect(opened).toHaveLength(1);
  state.answers = true;
  await looks(1);
  state.answers = false;
  await looks(1);
  state.answers = true;
  await looks(1);
  expect(opened).toHaveLength(1);
  await looks(1);
  expect(opened).toHaveLength(2);
});

it('is not replaced any more once it was closed', async () => {
  const { opened, replaced, looks } = scene();
  void replaced.close();
  await looks(20);
  expect(opened).toHaveLength(1);
});
