import { once } from 'node:events';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { HttpCall } from '../../src/outbound/http-call.ts';
import { refusedOrigin } from '../support/refused-origin.ts';
import { deadlineIn, manualClock } from '../wallets/support/calls.ts';
import { reply, startRawWallet } from '../wallets/support/raw-wallet.ts';
import { SELF_SIGNED } from '../wallets/support/self-signed.ts';
import {
  client,
  closeOpened,
  exchangeWith,
  opened,
  portOf,
  post,
  wallet,
} from './support/client.ts';

afterEach(closeOpened);

describe('a complete answer', () => {
  it('comes back with its status and bytes, and the connection is used again', async () => {
    const server = await wallet(({ socket }) => reply(socket, 400, '{"code":7}'));
    const http = client(server.origin, { connections: 1 });
    const first = await http.exchange(post(), deadlineIn(3000));
    await http.exchange(post(), deadlineIn(3000));
    expect(first).toEqual({
      kind: 'response',
      status: 400,
      contentType: 'application/json',
      body: Buffer.from('{"code":7}'),
    });
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
    const { exchange } = await exchangeWith(
      (socket) => {
        reply(socket, 200, '{}');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
      },
      { limitMs: 1_000 },
    );
    expect(exchange).toMatchObject({ kind: 'response', status: 200 });
  });
});

describe('a request that certainly never left', () => {
  it('is not sent when the connection is refused', async () => {
    const exchange = await client(await refusedOrigin()).exchange(post(), deadlineIn(3000));
    expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
    expect(exchange).toHaveProperty('error', expect.stringMatching(/ECONNREFUSED|EPIPE/));
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

  it.each([
    ['', '1'],
    [', although the environment would have none checked', '0'],
  ])('is not sent when the certificate cannot be trusted%s', async (_, checks) => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', checks);
    onTestFinished(() => void vi.unstubAllEnvs());
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
    // Accepts connections and stays silent: the TLS handshake never ends.
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
    // The connection was not used for it.
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

describe('a call whose time is over once it was sent', () => {
  it('takes its connection with it, so that a wallet that hangs does not keep them (I7)', async () => {
    const server = await wallet(() => undefined);
    const http = client(server.origin, { connections: 1 });
    const exchange = http.exchange(post(), deadlineIn(150));
    const { socket } = await server.arrived(1);
    // A reset, which is an error of the other side's socket.
    const closed = once(socket, 'error');
    expect(await exchange).toMatchObject({ kind: 'failed', fault: 'timeout' });
    expect((await closed)[0]).toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('closing', () => {
  it('lets calls under way finish', async () => {
    const server = await wallet(() => undefined);
    const http = client(server.origin, { connections: 1 });
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
