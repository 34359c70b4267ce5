import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

/** A port where the system takes no connection: packets that ask for one are lost, as on a bad line. */
export interface DeafPort {
  readonly port: number;
  /** From now on connections are taken: the system asks again a second after its first packet was lost. */
  hear(): void;
  close(): Promise<void>;
}

/** Takes connections only once it is woken; until then its short queue is full. */
const SERVER = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer((socket) => socket.on('error', () => undefined));
  server.listen({ port: 0, host: workerData.host, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(workerData.woken, 0, 0));
  });`;

/** @param host its address; 0.0.0.0: all of this machine's */
export async function deafPort(host: string): Promise<DeafPort> {
  const woken = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SERVER, { eval: true, workerData: { host, woken } });
  const port = Number((await once(worker, 'message'))[0]);
  const queued = await fillQueue(port);
  const hear = () => {
    Atomics.store(woken, 0, 1);
    Atomics.notify(woken, 0);
  };
  return {
    port,
    hear,
    close: async () => {
      for (const socket of queued) socket.destroy();
      hear();
      await worker.terminate();
    },
  };
}

/** The queue is as long as asked for, and one more. */
async function fillQueue(port: number): Promise<Socket[]> {
  const queued: Socket[] = [];
  for (let n = 0; n < 2; n += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    queued.push(socket);
    await once(socket, 'connect');
  }
  return queued;
}
