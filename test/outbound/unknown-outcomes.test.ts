import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { BUSY_MS } from '../support/timing.ts';
import { deadlineIn } from '../wallets/support/calls.ts';
import { reply } from '../wallets/support/raw-wallet.ts';
import { client, closeOpened, exchangeWith, KIB, post, wallet } from './support/client.ts';

afterEach(closeOpened);

const WIRES = ['tcp', 'tls'] as const;

describe.each(WIRES)('a wallet that lets wait, over %s (I1, I2)', (wire) => {
  it.each<[string, (socket: Socket) => void]>([
    ['says nothing', () => undefined],
    ['stops in its headers', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-')],
    [
      'stops after its headers',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'),
    ],
    [
      'stops in its body',
      (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"a"'),
    ],
  ])('is unknown by timeout when it %s', async (_, onRequest) => {
    const { exchange, tookMs, server } = await exchangeWith(onRequest, { wire, limitMs: 500 });
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'timeout' });
    expect(tookMs).toBeGreaterThan(490);
    expect(tookMs).toBeLessThan(500 + BUSY_MS);
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown by timeout when its bytes trickle: every one of them is not a new wait', async () => {
    let timer: NodeJS.Timeout | undefined;
    const { exchange, tookMs } = await exchangeWith(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
        timer = setInterval(() => socket.write('x'), 50);
        socket.on('close', () => clearInterval(timer));
      },
      { wire, limitMs: 600 },
    );
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'timeout', status: 200 });
    expect(tookMs).toBeLessThan(600 + BUSY_MS);
  });

  it('is unknown by timeout when it sends informational answers and nothing else', async () => {
    let timer: NodeJS.Timeout | undefined;
    const { exchange } = await exchangeWith(
      (socket) => {
        timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50);
        socket.on('close', () => clearInterval(timer));
      },
      { wire, limitMs: 200 },
    );
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'timeout' });
    expect(exchange).not.toHaveProperty('status');
  });

  it('is waited for no longer than the operator allows, however long the deadline', async () => {
    const server = await wallet(() => undefined, wire);
    const http = client(server.origin, { timeoutMs: 100 });
    const startedAt = performance.now();
    await http.exchange(post(), deadlineIn(4000));
    expect(performance.now() - startedAt).toBeLessThan(100 + BUSY_MS);
  });
});

describe.each(WIRES)('a connection that breaks once %s has taken the request (I2, I5)', (wire) => {
  it('is unknown, and the request arrived exactly once', async () => {
    const { exchange, server } = await exchangeWith((socket) => socket.resetAndDestroy(), { wire });
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'connection' });
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown when it is closed without an answer, or in the middle of one', async () => {
    const silent = await exchangeWith((socket) => socket.end(), { wire });
    const torn = await exchangeWith(
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"transactionId":"t1"}'),
      { wire },
    );
    expect(silent.exchange).toMatchObject({ kind: 'failed', fault: 'connection' });
    expect(torn.exchange).toMatchObject({ kind: 'failed' });
    expect(silent.server.requests).toHaveLength(1);
    expect(torn.server.requests).toHaveLength(1);
  });

  it.each([
    [
      'an upgrade nobody asked for',
      'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    ],
    ['a continuation nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('is unknown after %s', async (_, bytes) => {
    const { exchange, server } = await exchangeWith((socket) => socket.write(bytes), { wire });
    expect(exchange).toMatchObject({ kind: 'failed' });
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown on a reused connection too: that the wallet had closed it is no proof', async () => {
    const server = await wallet(
      ({ socket }, index) => (index === 0 ? reply(socket, 200, '{}') : socket.resetAndDestroy()),
      wire,
    );
    const http = client(server.origin, { connections: 1 });
    await http.exchange(post(), deadlineIn(3000));
    const exchange = await http.exchange(post(), deadlineIn(3000));
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'connection' });
    expect(server.requests).toHaveLength(2);
    expect(server.connections).toBe(1);
  });

  it('never has the request sent again, whenever the wallet drops idle connections', async () => {
    const server = await wallet(({ socket }, index) => {
      reply(socket, 200, '{}');
      // At several distances from the next request, some of which coincide with it.
      const drop = () => (index % 2 === 0 ? socket.resetAndDestroy() : socket.end());
      if (index % 3 === 0) drop();
      else if (index % 3 === 1) setImmediate(drop);
      else setTimeout(drop, 1);
    }, wire);
    const http = client(server.origin, { connections: 1 });
    const outcomes: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      const body = Buffer.from(`{"transactionId":"t${n}"}`);
      outcomes.push((await http.exchange(post({ body }), deadlineIn(3000))).kind);
    }
    const arrivals = Map.groupBy(server.requests, ({ body }) => body.toString());
    expect([...arrivals.values()].every((copies) => copies.length === 1)).toBe(true);
    for (const [n, kind] of outcomes.entries()) {
      const arrived = arrivals.has(`{"transactionId":"t${n}"}`);
      if (kind === 'response') expect(arrived).toBe(true);
      if (kind === 'notSent') expect(arrived).toBe(false);
    }
  });
});

describe.each(WIRES)(
  'an idle connection over %s that the wallet breaks as a request comes',
  (wire) => {
    /** Broken before this process could notice. */
    const brokenConnection = async () => {
      const server = await wallet(({ socket }) => reply(socket, 200, '{}'), wire);
      const http = client(server.origin, { connections: 1 });
      await http.exchange(post(), deadlineIn(3000));
      const { socket } = await server.arrived(1);
      socket.resetAndDestroy();
      return { server, http };
    };

    it('has not taken it: another connection does, and it arrives once (I5)', async () => {
      const { server, http } = await brokenConnection();
      const exchange = await http.exchange(post(), deadlineIn(3000));
      expect(exchange).toMatchObject({ kind: 'response', status: 200 });
      expect([server.connections, server.requests.length]).toEqual([2, 2]);
    });

    it('ends with no request sent where its time is over by then', async () => {
      const { server, http } = await brokenConnection();
      let asked = 0;
      const maySend = () => {
        asked += 1;
        return false;
      };
      const exchange = await http.exchange(post(), deadlineIn(3000), maySend);
      expect(exchange).toMatchObject({ kind: 'notSent', reason: 'deadline' });
      expect([asked, server.requests.length]).toEqual([1, 1]);
    });
  },
);

describe.each(WIRES)('an answer that is broken, over %s (I2)', (wire) => {
  it.each<[string, string]>([
    ['no HTTP at all', 'hello?\r\n\r\n'],
    [
      'garbage for a chunk size',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n',
    ],
    [
      'both framings at once',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['headers without end', `HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(100 * KIB)}\r\n\r\n`],
  ])('is a bad answer: %s', async (_, bytes) => {
    const { exchange, server } = await exchangeWith((socket) => socket.write(bytes), { wire });
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer' });
    expect(server.requests).toHaveLength(1);
  });

  it('is a bad answer when it is shorter than it says and the connection ends', async () => {
    const { exchange } = await exchangeWith(
      (socket) =>
        socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 50\r\n\r\n{"a":1}'),
      { wire },
    );
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer', status: 200 });
  });

  it('is a bad answer when it says it is too large, before any of it is read', async () => {
    const { exchange } = await exchangeWith(
      (socket) => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${64 * KIB + 1}\r\n\r\n`),
      { wire },
    );
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer', status: 200 });
  });

  it('is cut off at the limit when 200 MB come, and memory stays flat', async () => {
    const chunk = Buffer.alloc(64 * KIB, 0x20);
    const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n';
    let written = 0;
    const before = process.memoryUsage();
    const { exchange, server } = await exchangeWith(
      (socket) => {
        socket.write(head);
        const pump = () => {
          while (written < 200 * KIB * KIB && !socket.destroyed) {
            written += chunk.length;
            if (!socket.write(chunk)) return;
          }
        };
        socket.on('drain', pump);
        pump();
      },
      { wire },
    );
    const after = process.memoryUsage();
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer' });
    expect(written).toBeLessThan(20 * KIB * KIB);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(16 * KIB * KIB);
    expect(server.requests).toHaveLength(1);
  });
});
