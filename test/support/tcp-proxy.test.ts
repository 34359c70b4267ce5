import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts';

let far: Server;
let farPort: number;
let farReceived: string;
let proxy: TcpProxy;
let opened: Socket[];

beforeEach(async () => {
  farReceived = '';
  opened = [];
  far = createServer((socket) => {
    opened.push(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      farReceived += chunk.toString();
      socket.write(chunk);
    });
  });
  farPort = await listenOn(far, 0);
  proxy = await startTcpProxy({ host: '127.0.0.1', port: farPort });
});

afterEach(async () => {
  await proxy.close();
  for (const socket of opened) socket.destroy();
  await stopListening(far);
});

async function open(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  opened.push(socket);
  await once(socket, 'connect');
  return socket;
}

async function echo(socket: Socket, text: string): Promise<string> {
  socket.write(text);
  const [chunk]: Buffer[] = await once(socket, 'data');
  return String(chunk);
}

/** A round trip that bypasses the proxy, long enough for anything wrongly passed on to have arrived. */
async function settleDown(): Promise<void> {
  const direct = connect(farPort, '127.0.0.1');
  opened.push(direct);
  await echo(direct, '.');
  await echo(direct, '.');
}

it('passes on both ways and counts its connections', async () => {
  const socket = await open();
  expect(await echo(socket, 'hello')).toBe('hello');
  expect(proxy.connections).toBe(1);
  socket.end();
  await once(socket.resume(), 'close');
  await expect.poll(() => proxy.connections).toBe(0);
});

it('passes on a lot without losing any of it', async () => {
  const socket = await open();
  const size = 5_000_000;
  let received = 0;
  const all = new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      received += chunk.length;
      if (received === size) resolve();
    });
  });
  socket.write(Buffer.alloc(size, 'x'));
  await all;
});

it('resets what is open and refuses what is new while it is cut', async () => {
  const { port } = proxy;
  const socket = await open();
  await echo(socket, 'hello');
  const broken = once(socket, 'error');
  await proxy.cut();
  expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
  await expect(open()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await proxy.restore();
  expect(proxy.port).toBe(port);
  expect(await echo(await open(), 'again')).toBe('again');
});

it('accepts and passes nothing on while it is frozen, and goes on afterwards', async () => {
  const before = await open();
  await echo(before, 'a');
  proxy.freeze();
  const during = await open();
  before.write('b');
  during.write('c');
  await settleDown();
  expect(farReceived.replaceAll('.', '')).toBe('a');
  await expect.poll(() => proxy.connections).toBe(2);
  const answers = Promise.all([once(before, 'data'), once(during, 'data')]);
  await proxy.restore();
  expect((await answers).map(([chunk]) => String(chunk))).toEqual(['b', 'c']);
});

it('breaks the near side when the far side is gone', async () => {
  const socket = await open();
  await echo(socket, 'hello');
  for (const one of opened) if (one !== socket) one.destroy();
  await once(socket.resume(), 'end');
});
