import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { gentleClose } from '../../src/http/gentle-close.ts';

const REQUEST = 'GET / HTTP/1.1\r\nhost: gateway\r\n\r\n';
const LAST_ANSWER = /connection: close.*answered$/s;
/** Longer than an idle connection is kept. */
const BLOCKED_MS = 700;

describe('a server that is closed gently', () => {
  let app: FastifyInstance;
  let close: () => Promise<void>;
  beforeEach(async () => {
    app = Fastify({ forceCloseConnections: 'idle', return503OnClosing: false });
    app.get('/', async () => 'answered');
    close = gentleClose(app);
    await app.listen({ host: '127.0.0.1', port: 0 });
  });

  it('answers what was sent on an idle connection while it was too busy to read (I2)', async () => {
    const socket = await idleConnection();
    const closed = close();
    while (app.server.listening) await nextTurn();
    socket.write(REQUEST);
    block(BLOCKED_MS);
    expect(await text(socket)).toMatch(LAST_ANSWER);
    await closed;
  });

  it('answers on a connection that came while it was too busy to accept it (I2)', async () => {
    const socket = connect(portOf(app), '127.0.0.1');
    socket.write(REQUEST);
    // Sent in the next tick of this turn; the system connects it.
    await new Promise((resolve) => process.nextTick(resolve));
    block(50);
    const closed = close();
    expect(await text(socket)).toMatch(LAST_ANSWER);
    await closed;
  });

  it('answers on all of many connections that came while it was too busy to accept them (I2)', async () => {
    const sockets = Array.from({ length: 20 }, () => {
      const socket = connect(portOf(app), '127.0.0.1');
      socket.write(REQUEST);
      return socket;
    });
    await new Promise((resolve) => process.nextTick(resolve));
    block(50);
    const closed = close();
    const answers = await Promise.all(sockets.map((socket) => text(socket)));
    for (const answer of answers) expect(answer).toMatch(LAST_ANSWER);
    await closed;
  });

  it('does not wait for a connection that never carried a request', async () => {
    const socket = connect(portOf(app), '127.0.0.1');
    await once(app.server, 'connection');
    const [rest] = await Promise.all([text(socket), close()]);
    expect(rest).toBe('');
  });

  it('ends connections that nothing comes on', async () => {
    const socket = await idleConnection();
    const [rest] = await Promise.all([text(socket), close()]);
    expect(rest).toBe('');
  });

  /** A connection that has carried a request and is kept alive. */
  async function idleConnection(): Promise<Socket> {
    const socket = connect(portOf(app), '127.0.0.1');
    socket.write(REQUEST);
    await once(socket, 'data');
    return socket;
  }
});

function portOf({ server }: FastifyInstance): number {
  return (server.address() as AddressInfo).port;
}

/** Blocks the process for this long. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
