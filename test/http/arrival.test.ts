import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { BACKLOG } from '../../src/http/accept-queue.ts';
import { EventLoopLag } from '../../src/http/arrival.ts';

/** A clock that moves only when told. */
class HandClock implements Clock {
  atMs = 1_000;
  nowMs = () => this.atMs;
  monotonicMs = () => this.atMs;
}

const STALL_MS = 400;
let lag: EventLoopLag | undefined;
afterEach(() => lag?.close());

function stalled() {
  const clock = new HandClock();
  lag = new EventLoopLag(clock);
  clock.atMs += STALL_MS;
  expect(lag.currentMs()).toBeGreaterThanOrEqual(STALL_MS);
  return { clock, lag };
}

async function turns(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await turn();
}

describe('after a stall of the event loop', () => {
  it('whatever waited to be accepted is dated from before it (I1, I5)', async () => {
    const { lag } = stalled();
    // One connection per turn: they waited.
    for (let accepted = 0; accepted < 100; accepted += 1) {
      lag.connected();
      await turn();
      expect(lag.currentMs()).toBeGreaterThanOrEqual(STALL_MS);
    }
    await turns(10);
    expect(lag.currentMs()).toBe(0);
  });

  it('connections that keep coming do not keep it from ending', async () => {
    const { lag } = stalled();
    for (let accepted = 0; accepted < 3; accepted += 1) {
      await turns(10);
      lag.connected();
    }
    expect(lag.currentMs()).toBe(0);
  });

  it('no more can have waited than the listening socket holds', async () => {
    const { lag } = stalled();
    for (let accepted = 0; accepted < BACKLOG + 10; accepted += 1) {
      lag.connected();
      await turn();
    }
    expect(lag.currentMs()).toBe(0);
  });

  it('what waited through a second one is dated from before the first (I5)', async () => {
    const { clock, lag } = stalled();
    lag.connected();
    await turns(2);
    clock.atMs += 3_000;
    for (let accepted = 0; accepted < 10; accepted += 1) {
      await turn();
      expect(lag.currentMs()).toBeGreaterThanOrEqual(STALL_MS + 3_000);
      lag.connected();
    }
    await turns(10);
    expect(lag.currentMs()).toBe(0);
  });
});

it.each([300, 1_000])(
  'a process so short of processor time that each turn is a stall of %i ms dates no request from long ago',
  async (turnMs) => {
    const { clock, lag } = stalled();
    const lags: number[] = [];
    // For longer than connections that wait to be accepted could be the reason.
    for (let done = 0; done < BACKLOG + 20; done += 1) {
      clock.atMs += turnMs;
      lag.connected();
      await turn();
      lags.push(lag.currentMs());
    }
    expect(Math.max(...lags)).toBeLessThan(STALL_MS + 4 * turnMs);
    expect(Math.max(...lags.slice(5))).toBeLessThanOrEqual(3 * turnMs);
    // Not less than what may have waited through a turn.
    expect(Math.min(...lags)).toBeGreaterThanOrEqual(turnMs);
  },
);

/** Few enough to be read within two seconds even on a busy machine: after that, a stall is forgotten. */
const CONNECTIONS = 50;

/** Opens connections from another thread, as strangers do, each with a request that says when it was sent. */
const CALLERS = `
  const { connect } = require('node:net');
  const { workerData, parentPort } = require('node:worker_threads');
  let answered = 0;
  for (let count = 0; count < workerData.count; count += 1) {
    const socket = connect(workerData.port, '127.0.0.1', () => {
      const at = Date.now();
      socket.write('GET /' + at + ' HTTP/1.1\\r\\nhost: x\\r\\nconnection: close\\r\\n\\r\\n', () => {
        answered += 1;
        if (answered === workerData.count) Atomics.notify(workerData.sent, 0, Atomics.store(workerData.sent, 0, 1));
      });
    });
    socket.resume();
  }
`;

it('a real backlog of connections is read before a stall is forgotten (I5)', async () => {
  const own = new EventLoopLag(systemClock);
  onTestFinished(() => own.close());
  const seen: { sentAtMs: number; datedAtMs: number }[] = [];
  const server = createServer((request, response) => {
    const datedAtMs = Date.now() - own.currentMs();
    seen.push({ sentAtMs: Number(request.url?.slice(1)), datedAtMs });
    response.end();
  });
  server.on('connection', () => own.connected());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(CALLERS, {
    eval: true,
    workerData: { port, count: CONNECTIONS, sent },
  });
  onTestFinished(async () => void (await worker.terminate()));
  await once(worker, 'online');
  // The loop stands still until all have sent, and long enough to count as a stall.
  Atomics.wait(sent, 0, 0, 10_000);
  const untilMs = performance.now() + STALL_MS;
  while (performance.now() < untilMs);
  await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(CONNECTIONS);
  for (const { sentAtMs, datedAtMs } of seen) expect(datedAtMs).toBeLessThanOrEqual(sentAtMs);
});

/** Just long enough to count as a stall. */
const SHORT_STALL_MS = 280;
const REGULAR = 4;

/** Each sends its next request as soon as it is answered. */
const REGULARS = `
  const { connect } = require('node:net');
  const { workerData } = require('node:worker_threads');
  for (let count = 0; count < workerData.count; count += 1) {
    const socket = connect(workerData.port, '127.0.0.1');
    const ask = () => socket.write('GET /' + Date.now() + ' HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n');
    socket.on('connect', ask);
    socket.on('data', ask);
  }
`;

/** Stops the event loop, and takes no processor time from other tests. */
function hold(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

it('what waited through a turn of several stalls is dated from before all of them (I1, I5)', async () => {
  const own = new EventLoopLag(systemClock);
  onTestFinished(() => own.close());
  const seen: { sentAtMs: number; datedAtMs: number }[] = [];
  const server = createServer((request, response) => {
    seen.push({ sentAtMs: Number(request.url?.slice(1)), datedAtMs: Date.now() - own.currentMs() });
    response.end();
    // Its successor has been sent when the next connection of this turn is read.
    hold(SHORT_STALL_MS);
  });
  server.on('connection', () => own.connected());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const worker = new Worker(REGULARS, { eval: true, workerData: { port, count: REGULAR } });
  onTestFinished(async () => {
    await worker.terminate();
    server.close();
  });
  await expect.poll(() => seen.length, { timeout: 20_000 }).toBeGreaterThan(REGULAR * 5);
  const tooYoungMs = seen.map(({ sentAtMs, datedAtMs }) => datedAtMs - sentAtMs);
  expect(Math.max(...tooYoungMs)).toBeLessThan(SHORT_STALL_MS / 2);
  // Nor from long ago: a request has waited for two turns at most.
  expect(Math.min(...tooYoungMs)).toBeGreaterThan(-REGULAR * SHORT_STALL_MS * 4);
});
