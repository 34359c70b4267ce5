import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { machineMs } from '../../src/lib/machine-clock.ts';
import { PublicPort } from '../../src/process/public-port.ts';
import { partly } from '../support/partly.ts';

const BUSY_MS = 400;
/** Longer than `LONG_MS`. */
const LONG_MS = 1_200;

interface Given {
  readonly from: number | undefined;
  readonly waitedMs: number;
}

/** A public port, with a worker that takes a connection only when the test says so. */
async function openPort() {
  const port = new PublicPort({ host: '127.0.0.1', port: 0 }, pino({ level: 'silent' }));
  const given: Given[] = [];
  const opened = Promise.withResolvers<number>();
  const worker = partly<Worker>({
    send: (message: { publicPort?: { port: number }; givenSinceMs?: number }, socket?: Socket) => {
      const { publicPort, givenSinceMs = 0 } = message;
      if (publicPort !== undefined) opened.resolve(publicPort.port);
      else given.push({ from: socket?.remotePort, waitedMs: machineMs() - givenSinceMs });
      return true;
    },
  });
  const heard = (givenServer: 'listen' | 'taken') =>
    port.heard(worker, { givenServer }, () => undefined);
  await heard('listen');
  const at = await opened.promise;
  const callers: Socket[] = [];
  onTestFinished(async () => {
    for (const caller of callers) caller.destroy();
    port.left(worker);
    await port.close();
  });
  return {
    given,
    taken: () => heard('taken'),
    caller: () => {
      const socket = connect({ host: '127.0.0.1', port: at }).on('error', () => undefined);
      callers.push(socket);
      return socket;
    },
  };
}

it('a connection that waited to be accepted is given with that time: its request has less left (I1)', async () => {
  const { given, caller } = await openPort();
  caller();
  // Connected behind this line, and accepted once the process is free again.
  process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS));
  await expect.poll(() => given.length).toBe(1);
  expect(given[0]?.waitedMs).toBeGreaterThan(BUSY_MS - 100);
});

it('whoever has waited for long lets a younger one go first, and comes after it (I1)', async () => {
  const { given, caller, taken } = await openPort();
  const connected = async () => {
    const socket = caller();
    await once(socket, 'connect');
    return socket.localPort;
  };
  const first = await connected();
  await expect.poll(() => given.length).toBe(1);
  const old = await connected();
  const sinceMs = performance.now();
  await expect.poll(() => performance.now() - sinceMs).toBeGreaterThan(LONG_MS);
  const young = await connected();
  // The port has accepted it once its own turn is over.
  await new Promise((resolve) => setImmediate(resolve));
  await taken();
  await taken();
  expect(given.map(({ from }) => from)).toEqual([first, young, old]);
});
