import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { createServer, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { AcceptQueue, BACKLOG } from '../../src/http/accept-queue.ts';
import { RequestStarts } from '../../src/http/request-starts.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { TestClock } from '../support/test-clock.ts';

const TURN_MS = 10;

/** Accepts so many, one a turn, and tells how long each may have waited as it is read. */
async function acceptedInRow(count: number): Promise<readonly number[]> {
  const clock = new TestClock();
  const queue = new AcceptQueue(clock);
  const waited: number[] = [];
  for (let at = 0; at < count; at += 1) {
    waited.push(clock.atMs - queue.accepted(0));
    await turn();
    clock.atMs += TURN_MS;
  }
  return waited;
}

it('one that is accepted after others, turn for turn, may have waited as long as they took (I1)', async () => {
  expect(await acceptedInRow(4)).toEqual([0, 10, 20, 30]);
});

it('none has waited longer than a full queue before it takes', async () => {
  const waited = await acceptedInRow(BACKLOG + 100);
  expect(waited.at(BACKLOG)).toBe(BACKLOG * TURN_MS);
  const later = waited.slice(BACKLOG + 1);
  expect(later).toEqual(later.map(() => (BACKLOG + 1) * TURN_MS));
});

it('those that waited while the event loop stood still have waited all that time (I1)', async () => {
  const clock = new TestClock();
  const queue = new AcceptQueue(clock);
  const stalledAtMs = clock.atMs - 7_000;
  for (const lagMs of [7_000, 0]) {
    expect(queue.accepted(lagMs)).toBe(stalledAtMs);
    await turn();
  }
});

it('a turn in which nobody waited begins anew', async () => {
  const clock = new TestClock();
  const queue = new AcceptQueue(clock);
  queue.accepted(0);
  for (let turns = 0; turns < 3; turns += 1) await turn();
  clock.atMs += 1_000;
  expect(queue.accepted(0)).toBe(clock.atMs);
});

it('what is sent on a connection later than it was accepted has not waited with it', async () => {
  const starts = new RequestStarts();
  const socket = new Socket();
  const request = new IncomingMessage(socket);
  starts.opened(socket, 5);
  await turn();
  expect(starts.sinceMs(request, 7)).toBe(5);
  await turn();
  expect(starts.sinceMs(request, 7)).toBe(7);
});

it('no request that waited with its connection is dated later than it was sent', async () => {
  const queue = new AcceptQueue(systemClock);
  const starts = new RequestStarts();
  const gaps: number[] = [];
  const server = createServer((socket) => {
    starts.opened(socket, queue.accepted(0));
    // Each turn takes its time, as where many requests are worked on.
    const endsAtMs = performance.now() + 5;
    while (performance.now() < endsAtMs);
    socket.once('data', (data) => {
      const cameAtMs = starts.sinceMs(new IncomingMessage(socket), systemClock.monotonicMs());
      gaps.push(performance.timeOrigin + cameAtMs - Number(data.toString()));
      socket.end();
    });
  });
  const port = await listenOn(server, 0);
  onTestFinished(() => stopListening(server));
  const sender = new Worker(
    `const { connect } = require('node:net');
     for (let n = 0; n < 200; n += 1) {
       const socket = connect(${port}, '127.0.0.1', () => {
         socket.write(String(performance.timeOrigin + performance.now()));
       });
       socket.resume();
     }`,
    { eval: true },
  );
  await once(sender, 'exit');
  expect(gaps).toHaveLength(200);
  // Of this one's own turn, and of two threads' clocks.
  expect(Math.max(...gaps)).toBeLessThan(50);
});
