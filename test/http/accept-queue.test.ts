import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { createServer, type Server, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { AcceptQueue, BACKLOG } from '../../src/http/accept-queue.ts';
import { RequestStarts } from '../../src/http/request-starts.ts';
import { waitingAt } from '../../src/http/waiting-connections.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { TestClock } from '../support/test-clock.ts';

const TURN_MS = 10;
/** By a process that is kept busy by connections. */
const ACCEPTED = 400;

/** Accepts this many connections, one per turn. @returns how long each may have waited when it is read */
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

it('a turn in which nobody waited starts the measurement again', async () => {
  const clock = new TestClock();
  const queue = new AcceptQueue(clock);
  queue.accepted(0);
  for (let turns = 0; turns < 3; turns += 1) await turn();
  clock.atMs += 1_000;
  expect(queue.accepted(0)).toBe(clock.atMs);
});

it('data sent on a connection after it was accepted has not waited with it', async () => {
  const starts = new RequestStarts();
  const socket = new Socket();
  const request = new IncomingMessage(socket);
  starts.opened(socket, 5);
  await turn();
  expect(starts.sinceMs(request, 7)).toBe(5);
  await turn();
  expect(starts.sinceMs(request, 7)).toBe(7);
});

it('nobody came before a look at the queue that did not show them', async () => {
  const clock = new TestClock();
  let waiting: number | undefined;
  const queue = new AcceptQueue(clock, () => waiting);
  const beganAtMs = clock.atMs;
  const accepted = async () => {
    const sinceMs = queue.accepted(0);
    await turn();
    return sinceMs;
  };
  // Nobody knows how many are waiting.
  expect(await accepted()).toBe(beganAtMs);
  clock.atMs += 1_000;
  expect(await accepted()).toBe(beganAtMs);
  // Three are, and each may have come at the beginning.
  waiting = 3;
  clock.atMs += 1_000;
  const lookedAtMs = clock.atMs;
  expect(await accepted()).toBe(beganAtMs);
  waiting = undefined;
  for (let n = 0; n < 3; n += 1) expect(await accepted()).toBe(beganAtMs);
  expect(await accepted()).toBe(lookedAtMs);
  clock.atMs += 1_000;
  expect(await accepted()).toBe(lookedAtMs);
});

/** Sends from another thread. */
function senderOf(script: string): Worker {
  const sender = new Worker(script, { eval: true });
  onTestFinished(async () => {
    await sender.terminate();
  });
  return sender;
}

it('a process that is only just kept busy by new connections takes none for seconds old', async (context) => {
  if (process.platform !== 'linux') context.skip('only Linux tells how many connections wait');
  const waited: number[] = [];
  const acceptedAtMs: number[] = [];
  const server = createServer((socket) => {
    acceptedAtMs.push(systemClock.monotonicMs());
    waited.push(systemClock.monotonicMs() - queue.accepted(0));
    const endsAtMs = performance.now() + 5;
    while (performance.now() < endsAtMs);
    socket.on('error', () => undefined);
    socket.resume().end();
  });
  const queue = new AcceptQueue(systemClock, () => waitingAt(server));
  const port = await listenOn(server, 0);
  onTestFinished(() => stopListening(server));
  // Each connects again as soon as it was served, so one is always waiting.
  senderOf(
    `const { connect } = require('node:net');
     const call = () => connect(${port}, '127.0.0.1').on('error', () => {}).on('close', call).resume();
     for (let n = 0; n < 60; n += 1) call();`,
  );
  // On a busy machine a turn takes many times as long as those 5 ms.
  await expect.poll(() => waited.length, { timeout: 45_000 }).toBeGreaterThan(ACCEPTED);
  // Accepting them one after another took six times as long as any of the 60 can have waited.
  const tookMs = (acceptedAtMs[ACCEPTED] ?? 0) - (acceptedAtMs[0] ?? 0);
  expect(waited.at(ACCEPTED)).toBeLessThan(tookMs / 2);
});

it.each([
  ['looks at its queue', (server: Server) => waitingAt(server)],
  ['cannot', () => undefined],
])(
  'no request that waited with its connection is dated later than it was sent: %s',
  async (_, look) => {
    const queue = new AcceptQueue(systemClock, () => look(server));
    const starts = new RequestStarts();
    const gaps: number[] = [];
    let longestTurnMs = 0;
    let turnBeganAtMs: number | undefined;
    const server = createServer((socket) => {
      // The machine may be busy with other work in the middle of a turn.
      const nowMs = performance.now();
      longestTurnMs = Math.max(longestTurnMs, nowMs - (turnBeganAtMs ?? nowMs));
      turnBeganAtMs = nowMs;
      starts.opened(socket, queue.accepted(0));
      // Each turn takes a while, as with many requests.
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
    const sender = senderOf(
      `const { connect } = require('node:net');
     for (let n = 0; n < 200; n += 1) {
       const socket = connect(${port}, '127.0.0.1', () => {
         socket.write(String(performance.timeOrigin + performance.now()));
       });
       socket.resume();
     }`,
    );
    await once(sender, 'exit');
    expect(gaps).toHaveLength(200);
    // One turn of its own, the turn before, and the difference between two threads' clocks.
    expect(Math.max(...gaps)).toBeLessThan(50 + 2 * longestTurnMs);
  },
);
