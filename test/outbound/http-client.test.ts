import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { type Exchange, HttpCall } from '../../src/outbound/http-call.ts';
import { HttpClient, type HttpClientOptions } from '../../src/outbound/http-client.ts';
import type { HttpRequest } from '../../src/outbound/http-message.ts';
import { deadlineIn, manualClock } from '../wallets/support/calls.ts';
import {
  type RawRequest,
  type RawWallet,
  reply,
  startRawWallet,
} from '../wallets/support/raw-wallet.ts';
import { SELF_SIGNED } from '../wallets/support/self-signed.ts';

const KIB = 1024;
const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function wallet(onRequest: (request: RawRequest, index: number) => void): Promise<RawWallet> {
  const server = await startRawWallet(onRequest);
  opened.push(server);
  return server;
}

function client(origin: string, changes: Partial<HttpClientOptions> = {}): HttpClient {
  const made = new HttpClient({
    clock: systemClock,
    origin,
    allowPrivate: true,
    timeoutMs: 4000,
    connections: 4,
    ...changes,
  });
  opened.unshift(made);
  return made;
}

function post(changes: Partial<HttpRequest> = {}): HttpRequest {
  return {
    method: 'POST',
    path: '/payment/bet',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"transactionId":"t1"}'),
    answerBytesMax: 64 * KIB,
    ...changes,
  };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function exchangeWith(
  onRequest: (socket: Socket) => void,
  limitMs = 3000,
): Promise<{ exchange: Exchange; server: RawWallet; tookMs: number }> {
  const server = await wallet(({ socket }) => onRequest(socket));
  const startedAt = performance.now();
  const exchange = await client(server.origin).exchange(post(), deadlineIn(limitMs));
  return { exchange, server, tookMs: performance.now() - startedAt };
}

describe('a complete answer', () => {
  it('comes back with its status and bytes, and the connection is used again', async () => {
    const server = await wallet(({ socket }) => reply(socket, 400, '{"code":7}'));
    const http = client(server.origin, { connections: 1 });
    const first = await http.exchange(post(), deadlineIn(3000));
    await http.exchange(post(), deadlineIn(3000));
    expect(first).toEqual({ kind: 'response', status: 400, body: Buffer.from('{"code":7}') });
    expect(server.connections).toBe(1);
  });

  it.each([301, 302, 307, 308])('is also a redirect %i: it is not followed', async (status) => {
    const { exchange, server } = await exchangeWith((socket) =>
      reply(socket, status, '', 'location: /elsewhere\r\n'),
    );
    expect(exchange).toMatchObject({ kind: 'response', status });
    expect(server.requests).toHaveLength(1);
  });

  it('is not an informational one: those are passed over', async () => {
    const { exchange } = await exchangeWith((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      reply(socket, 200, '{}');
    });
    expect(exchange).toMatchObject({ kind: 'response', status: 200 });
  });
});

describe('an answer that came in time', () => {
  it('counts, although this process was too busy to look until its time was over', async () => {
    const { exchange } = await exchangeWith((socket) => {
      reply(socket, 200, '{}');
      const until = performance.now() + 200;
      while (performance.now() < until);
    }, 100);
    expect(exchange).toMatchObject({ kind: 'response', status: 200 });
  });
});

describe('a wallet that lets wait (I1, I2)', () => {
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
    const { exchange, tookMs, server } = await exchangeWith(onRequest, 200);
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'timeout' });
    expect(tookMs).toBeGreaterThan(190);
    expect(tookMs).toBeLessThan(1000);
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown by timeout when its bytes trickle: every one of them is not a new wait', async () => {
    let timer: NodeJS.Timeout | undefined;
    const { exchange, tookMs } = await exchangeWith((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
      timer = setInterval(() => socket.write('x'), 50);
      socket.on('close', () => clearInterval(timer));
    }, 300);
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'timeout', status: 200 });
    expect(tookMs).toBeLessThan(1000);
  });

  it('is unknown by timeout when it sends informational answers and nothing else', async () => {
    let timer: NodeJS.Timeout | undefined;
    const { exchange } = await exchangeWith((socket) => {
      timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 50);
      socket.on('close', () => clearInterval(timer));
    }, 200);
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'timeout' });
    expect(exchange).not.toHaveProperty('status');
  });

  it('is waited for no longer than the operator allows, however long the deadline', async () => {
    const server = await wallet(() => undefined);
    const http = client(server.origin, { timeoutMs: 100 });
    const startedAt = performance.now();
    await http.exchange(post(), deadlineIn(4000));
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});

describe('a connection that breaks once the request was handed to it (I2, I5)', () => {
  it('is unknown, and the request arrived exactly once', async () => {
    const { exchange, server } = await exchangeWith((socket) => socket.resetAndDestroy());
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'connection' });
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown when it is closed without an answer, or in the middle of one', async () => {
    const silent = await exchangeWith((socket) => socket.end());
    const torn = await exchangeWith((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"transactionId":"t1"}'),
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
    const { exchange, server } = await exchangeWith((socket) => socket.write(bytes));
    expect(exchange).toMatchObject({ kind: 'failed' });
    expect(server.requests).toHaveLength(1);
  });

  it('is unknown on a reused connection too: that the wallet had closed it is no proof', async () => {
    const server = await wallet(({ socket }, index) =>
      index === 0 ? reply(socket, 200, '{}') : socket.resetAndDestroy(),
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
      // At several distances from the next request, some of which hit its very moment.
      const drop = () => (index % 2 === 0 ? socket.resetAndDestroy() : socket.end());
      if (index % 3 === 0) drop();
      else if (index % 3 === 1) setImmediate(drop);
      else setTimeout(drop, 1);
    });
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

describe('an answer that is broken (I2)', () => {
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
    const { exchange, server } = await exchangeWith((socket) => socket.write(bytes));
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer' });
    expect(server.requests).toHaveLength(1);
  });

  it('is a bad answer when it is shorter than it says and the connection ends', async () => {
    const { exchange } = await exchangeWith((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 50\r\n\r\n{"a":1}'),
    );
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer', status: 200 });
  });

  it('is a bad answer when it says it is too large, before any of it is read', async () => {
    const { exchange } = await exchangeWith((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${64 * KIB + 1}\r\n\r\n`),
    );
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer', status: 200 });
  });

  it('is cut off at the limit when 200 MB come, and memory stays flat', async () => {
    const chunk = Buffer.alloc(64 * KIB, 0x20);
    const head = 'HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n';
    let written = 0;
    const before = process.memoryUsage();
    const { exchange, server } = await exchangeWith((socket) => {
      socket.write(head);
      const pump = () => {
        while (written < 200 * KIB * KIB && !socket.destroyed) {
          written += chunk.length;
          if (!socket.write(chunk)) return;
        }
      };
      socket.on('drain', pump);
      pump();
    });
    const after = process.memoryUsage();
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer' });
    expect(written).toBeLessThan(20 * KIB * KIB);
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(16 * KIB * KIB);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a request that certainly never left', () => {
  async function refusedPort(): Promise<string> {
    const server = await startRawWallet(() => undefined);
    await server.close();
    return server.origin;
  }

  it('is not sent when the connection is refused', async () => {
    const exchange = await client(await refusedPort()).exchange(post(), deadlineIn(3000));
    expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
    expect(exchange).toHaveProperty('error', expect.stringContaining('ECONNREFUSED'));
  });

  it('is not sent when the name does not resolve', async () => {
    const http = client('http://no-such-wallet.invalid');
    const exchange = await http.exchange(post(), deadlineIn(3000));
    expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
  });

  it('is not sent when the port speaks no TLS', async () => {
    const bytes: Buffer[] = [];
    const plain = createServer((socket) => {
      socket.on('data', (chunk) => {
        bytes.push(chunk);
        socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      });
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    opened.push({ close: async () => void plain.close() });
    const http = client(`https://127.0.0.1:${portOf(plain)}`);
    const exchange = await http.exchange(post(), deadlineIn(3000));
    expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
    expect(Buffer.concat(bytes).includes('transactionId')).toBe(false);
  });

  it('is not sent when the certificate cannot be trusted', async () => {
    const received: Buffer[] = [];
    const server = createTlsServer(SELF_SIGNED, (socket) => {
      socket.on('data', (chunk) => received.push(chunk)).on('error', () => socket.destroy());
    });
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    opened.push({ close: async () => void server.close() });
    const http = client(`https://127.0.0.1:${portOf(server)}`);
    const exchange = await http.exchange(post(), deadlineIn(3000));
    expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
    expect(exchange).toHaveProperty('error', expect.stringContaining('SELF_SIGNED'));
    expect(received).toEqual([]);
  });

  it('is not sent when a header cannot be written', async () => {
    const server = await wallet(({ socket }) => reply(socket, 200, '{}'));
    const bad = post({ headers: { 'x-odd': 'a\r\nb' } });
    const exchange = await client(server.origin).exchange(bad, deadlineIn(3000));
    expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
    expect(server.connections).toBe(0);
  });

  it('is not sent when the client is closed', async () => {
    const server = await wallet(({ socket }) => reply(socket, 200, '{}'));
    const http = client(server.origin);
    await http.close();
    const exchange = await http.exchange(post(), deadlineIn(3000));
    expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
  });

  it('is not sent when no connection comes in time, and blames the wallet after a second', async () => {
    // Accepts and then says nothing: the TLS handshake never ends.
    const server = await startRawWallet(() => undefined);
    opened.push(server);
    const http = client(server.origin.replace('http:', 'https:'), { timeoutMs: 1200 });
    const [hasty, patient] = await Promise.all([
      http.exchange(post(), deadlineIn(100)),
      http.exchange(post(), deadlineIn(3000)),
    ]);
    expect(hasty).toMatchObject({ kind: 'notSent', reason: 'deadline' });
    expect(patient).toMatchObject({ kind: 'notSent', reason: 'connection' });
  });
});

describe('a request that waits for a connection', () => {
  it('does not arrive after its time is over, and keeps no place in the queue', async () => {
    const server = await wallet(({ socket }, index) => {
      if (index > 0) reply(socket, 200, '{}');
    });
    const http = client(server.origin, { connections: 1 });
    const first = http.exchange(post(), deadlineIn(3000));
    const { socket } = await server.arrived(1);
    const late = await http.exchange(post({ path: '/late' }), deadlineIn(60));
    reply(socket, 200, '{}');
    await first;
    const next = await http.exchange(post({ path: '/next' }), deadlineIn(3000));
    expect(late).toMatchObject({ kind: 'notSent', reason: 'deadline' });
    expect(next).toMatchObject({ kind: 'response', status: 200 });
    expect(server.requests.map(({ line }) => line)).toEqual([
      'POST /payment/bet HTTP/1.1',
      'POST /next HTTP/1.1',
    ]);
    expect(server.connections).toBe(1);
  });

  it('is asked for its deadline again by the connection that takes it, and not a byte leaves', async () => {
    const server = await wallet(({ socket }, index) => {
      if (index > 0) reply(socket, 200, '{}');
    });
    const http = client(server.origin, { connections: 1 });
    const first = http.exchange(post(), deadlineIn(3000));
    const { socket } = await server.arrived(1);
    const clock = manualClock();
    const queued = http.exchange(post({ path: '/queued' }), deadlineIn(3000, clock));
    clock.advance(2990);
    const bytes = server.bytes;
    reply(socket, 200, '{}');
    await first;
    expect(await queued).toMatchObject({ kind: 'notSent', reason: 'deadline' });
    expect(server.bytes).toBe(bytes);
    // The connection was not spent on it.
    await http.exchange(post(), deadlineIn(3000));
    expect(server.connections).toBe(1);
  });
});

describe('the handler itself', () => {
  it('refuses to be started twice (I5)', async () => {
    const call = new HttpCall({
      clock: systemClock,
      limitMs: 1000,
      answerBytesMax: 1,
      maySend: () => true,
    });
    const controller = {
      aborted: false,
      paused: false,
      reason: null,
      abort: vi.fn(),
      pause: vi.fn(),
      resume: vi.fn(),
    };
    call.onRequestStart(controller);
    expect(() => call.onRequestStart(controller)).toThrow('never sent twice');
    call.onResponseError(controller, new Error('a request is never sent twice'));
    expect(await call.outcome).toMatchObject({ kind: 'failed', fault: 'connection' });
  });
});

describe('closing', () => {
  it('lets what is under way finish', async () => {
    const server = await wallet(() => undefined);
    const http = client(server.origin);
    const exchange = http.exchange(post(), deadlineIn(3000));
    const { socket } = await server.arrived(1);
    const closing = http.close();
    reply(socket, 200, '{"late":true}');
    expect(await exchange).toMatchObject({ kind: 'response', status: 200 });
    await closing;
  });
});

describe('the budget', () => {
  it('is the smaller of the operator limit and what the deadline leaves', () => {
    const http = client('http://127.0.0.1:9', { timeoutMs: 1000 });
    const clock = manualClock();
    const deadline = deadlineIn(1500, clock);
    expect(http.budgetMs(deadline)).toBe(1000);
    clock.advance(700);
    expect(http.budgetMs(deadline)).toBe(800);
  });
});
