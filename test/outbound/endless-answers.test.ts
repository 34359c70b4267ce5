import { once } from 'node:events';
import { connect, createServer, type Server } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { limitAnswers } from '../../src/outbound/answer-meter.ts';
import { HttpClient } from '../../src/outbound/http-client.ts';
import { deadlineIn } from '../wallets/support/calls.ts';
import { reply, startRawWallet } from '../wallets/support/raw-wallet.ts';

/**
 * Wallets whose answers never end although no head and no body is too large: what comes between them goes on for
 * ever, as fast as the network allows.
 */
const ENDLESS = {
  'informational answers': ['', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
  'informational answers with headers': [
    '',
    `HTTP/1.1 103 x\r\nlink: ${'x'.repeat(8_000)}\r\n\r\n`,
  ],
  'a head': ['HTTP/1.1 200 OK\r\n', 'x-filler: 0123456789\r\n'],
  'a header': ['HTTP/1.1 200 OK\r\nx: ', 'x'.repeat(1_000)],
  'a status line': ['HTTP/1.1 200 ', 'x'.repeat(1_000)],
  'a chunk extension': [
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;',
    'x'.repeat(1_000),
  ],
  'chunk extensions': [
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
    `1;${'x'.repeat(1_000)}\r\nx\r\n`,
  ],
  trailers: ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n', 'x-filler: 012345\r\n'],
  'a body without length': ['HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(1_000)],
} as const;
type Kind = keyof typeof ENDLESS;
const KINDS = Object.keys(ENDLESS) as Kind[];

/** On its own thread: the time for sending all that must not be measured here. */
const HOSTILE_WALLET = `
  const { createServer } = require('node:net');
  const { parentPort, workerData } = require('node:worker_threads');
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      const kind = decodeURIComponent(/^POST \\/(\\S+) /.exec(chunk.toString('latin1'))?.[1] ?? '');
      const [first, again] = workerData[kind];
      const block = Buffer.from(again.repeat(Math.ceil(65536 / again.length)));
      socket.write(first);
      const pump = () => {
        while (!socket.destroyed && socket.write(block));
        socket.once('drain', pump);
      };
      pump();
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

let hostile: Worker;
let hostileOrigin: string;
beforeAll(async () => {
  hostile = new Worker(HOSTILE_WALLET, { eval: true, workerData: ENDLESS });
  const port = await new Promise((resolve) => hostile.once('message', resolve));
  hostileOrigin = `http://127.0.0.1:${port}`;
});
afterAll(() => hostile.terminate());

function clientOf(origin: string, connections = 8): HttpClient {
  return new HttpClient({
    clock: systemClock,
    origin,
    allowPrivate: true,
    timeoutMs: 4_000,
    connections,
  });
}

function ask(http: HttpClient, path: string, answerBytesMax = 64 * 1024) {
  const headers = { 'content-type': 'application/json' };
  const request = { method: 'POST', path, headers, body: Buffer.from('{}') } as const;
  return http.exchange({ ...request, answerBytesMax }, deadlineIn(4_000));
}

describe.each(KINDS)('a wallet that answers with %s without end', (kind) => {
  it('has given a broken answer, long before its time is over (I1, I2)', async () => {
    const http = clientOf(hostileOrigin);
    const startedAtMs = performance.now();
    const exchange = await ask(http, `/${encodeURIComponent(kind)}`);
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'bad_answer' });
    expect(performance.now() - startedAtMs).toBeLessThan(2_000);
    await http.close();
  });

  it('holds up no other operator’s wallet (I7)', async () => {
    const server = await startRawWallet(({ socket }) => reply(socket, 200, '{}'));
    const [neighbour, http] = [clientOf(server.origin), clientOf(hostileOrigin)];
    const quietMs = await medianMs(neighbour);
    let isOver = false;
    let broken = 0;
    const flood = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        await ask(http, `/${encodeURIComponent(kind)}`);
        broken += 1;
      }
    });
    const besideMs = await medianMs(neighbour);
    isOver = true;
    await Promise.all(flood);
    // It was called again and again meanwhile, and each call ended at once.
    expect(broken).toBeGreaterThan(0);
    expect(besideMs).toBeLessThan(20 * quietMs + 20);
    await Promise.all([neighbour.close(), http.close(), server.close()]);
  });
});

async function medianMs(http: HttpClient): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < 41; count += 1) {
    const startedAtMs = performance.now();
    const { kind } = await ask(http, '/user/balance');
    expect(kind).toBe('response');
    times.push(performance.now() - startedAtMs);
  }
  return times.sort((a, b) => a - b)[20] ?? 0;
}

it('takes up to eight hints before an answer, and an answer of many chunks', async () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const body = Array.from({ length: 2_000 }, () => '1;a=b\r\nx\r\n').join('');
  const server = await startRawWallet(({ socket }) => {
    socket.write(`${hint.repeat(8)}${chunked}${body}0\r\nx-sum: 1\r\n\r\n`);
  });
  const http = clientOf(server.origin, 1);
  // Repeatedly on one connection: the limit applies to one answer, not to the connection.
  for (let count = 0; count < 30; count += 1) {
    const exchange = await ask(http, '/');
    expect(exchange).toMatchObject({
      kind: 'response',
      status: 200,
      body: Buffer.from('x'.repeat(2_000)),
    });
  }
  expect(server.connections).toBe(1);
  await Promise.all([http.close(), server.close()]);
});

it('takes no answer that comes in tens of thousands of pieces, though it ends (I7)', async () => {
  const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
  const server = await startRawWallet(({ socket }) => {
    socket.write(`${chunked}${'1\r\n \r\n'.repeat(20_000)}0\r\n\r\n`);
  });
  const http = clientOf(server.origin, 1);
  expect(await ask(http, '/')).toMatchObject({
    kind: 'failed',
    fault: 'bad_answer',
    error: expect.stringMatching(/^the answer came in more than 4\d\d\d pieces$/),
    partial: { body: expect.objectContaining({ byteLength: expect.any(Number) }) },
  });
  await Promise.all([http.close(), server.close()]);
});

it('accepts the longest answer in chunks of a word each, whole and in order', async () => {
  const words = Array.from({ length: 4_000 }, (_, n) => `w${n} `);
  const text = words.join('');
  const server = await startRawWallet(({ socket }) => {
    const chunks = words.map((word) => `${word.length.toString(16)}\r\n${word}\r\n`);
    socket.write(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks.join('')}0\r\n\r\n`,
    );
  });
  const http = clientOf(server.origin, 1);
  const exchange = await ask(http, '/');
  expect(exchange).toMatchObject({ kind: 'response' });
  expect(exchange.kind === 'response' && exchange.body.toString()).toBe(text);
  await Promise.all([http.close(), server.close()]);
});

it('copies an answer of megabytes twice, however many its pieces (I7)', async () => {
  const body = Buffer.alloc(4_000_000, 'answer ');
  const server = await startRawWallet(({ socket }) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  });
  const http = clientOf(server.origin, 1);
  const concat = vi.spyOn(Buffer, 'concat');
  const exchange = await ask(http, '/', body.length);
  const copied = concat.mock.results.reduce((sum, { value }) => sum + Buffer.byteLength(value), 0);
  concat.mockRestore();
  expect(exchange.kind === 'response' && exchange.body.equals(body)).toBe(true);
  expect(copied).toBeLessThan(2.1 * body.length);
  await Promise.all([http.close(), server.close()]);
});

it('hands the parser little at a time, which makes an error of each line too many (I7)', async () => {
  const server = createServer((socket) => socket.end('x'.repeat(20_000)));
  const port = await listening(server);
  const socket = connect(port, '127.0.0.1');
  limitAnswers(socket, () => 64 * 1024);
  const pieces: number[] = [];
  socket.on('readable', () => {
    for (let piece = socket.read(); piece !== null; piece = socket.read())
      pieces.push(piece.length);
  });
  await once(socket, 'close');
  server.close();
  expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(20_000);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(512);
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
