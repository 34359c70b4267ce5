import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { GatewayError } from '../../src/domain/errors.ts';
import { EventLoopLag } from '../../src/http/arrival.ts';
import { createPublicServer } from '../../src/http/public-server.ts';
import type { IncomingCallback } from '../../src/protocol/callback-endpoint.ts';
import { listenerOptions } from './support/listener.ts';

/** How callbacks get in and out, which are not on Fastify. */

const BODY_BYTES_MAX = 256 * 1024;

const lag = new EventLoopLag(systemClock);
const lines: string[] = [];
const answer = vi.fn<(callback: IncomingCallback) => Promise<{ status: number; body: string }>>();
const noteTooLong = vi.fn();
let app: FastifyInstance;
let port: number;
beforeEach(async () => {
  lines.length = 0;
  answer.mockReset().mockImplementation(async ({ body }) => ({ status: 200, body: `${body}é` }));
  noteTooLong.mockReset();
  app = createPublicServer({
    ...listenerOptions(lines, lag),
    endpoints: [{ method: 'POST', path: '/payment/bet', answer, noteTooLong }],
  });
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
afterEach(() => app.close());
afterAll(() => lag.close());

async function connected(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const head = (target: string, lines: string) =>
  `POST ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${lines}\r\n\r\n`;

/** Everything that is answered to these bytes. */
async function saidTo(...writes: readonly string[]): Promise<string> {
  const socket = await connected();
  const said = text(socket);
  for (const bytes of writes) {
    socket.write(bytes);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await said;
}

const LENGTH = 'content-length: 2';

it.each(['/payment/bet', '/payment/bet?from=x', 'http://gateway/payment/bet?a', '/payment/bet#a'])(
  'a callback to %s is its endpoint’s, and is answered with its length in bytes',
  async (target) => {
    const said = await saidTo(head(target, LENGTH), '{}');
    expect(said).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(said).toContain(
      'content-type: application/json; charset=utf-8\r\ncontent-length: 4\r\n',
    );
    expect(said).toMatch(/\r\n\r\n\{\}é$/);
  },
);

it('a body is whole however it is divided, and may be missing', async () => {
  expect(await saidTo(head('/payment/bet', LENGTH), '{', '}')).toContain('{}é');
  const chunked = head('/payment/bet', 'transfer-encoding: chunked');
  expect(await saidTo(chunked, '1\r\n{\r\n', '1\r\n}\r\n0\r\n\r\n')).toContain('{}é');
  expect(await saidTo(head('/payment/bet', 'a: b'))).toMatch(/\r\n\r\né$/);
});

it('a callback tells its caller’s address, behind a trusted proxy', async () => {
  await saidTo(head('/payment/bet', `x-forwarded-for: 192.0.2.7, 127.0.0.9\r\n${LENGTH}`), '{}');
  expect(answer.mock.calls[0]?.[0].ip).toBe('192.0.2.7');
});

it.each([
  ['announced', head('/payment/bet', `content-length: ${BODY_BYTES_MAX + 1}`)],
  [
    'in chunks',
    `${head('/payment/bet', 'transfer-encoding: chunked')}40001\r\n${'x'.repeat(0x40001)}\r\n5\r\nxxxxx\r\n`,
  ],
])('a body that is too long is refused unread, and noted once: %s', async (_, bytes) => {
  const said = await saidTo(bytes.replace('connection: close\r\n', ''));
  expect(said).toMatch(/^HTTP\/1\.1 413 .*connection: close.*"The body is over 262144 bytes"\}$/is);
  expect(answer).not.toHaveBeenCalled();
  expect(noteTooLong.mock.calls).toEqual([[expect.any(Number), expect.anything()]]);
});

it.each([
  [new GatewayError('DATABASE_UNAVAILABLE', 'away'), 503],
  [new TypeError('ours'), 500],
])(
  'what an endpoint throws is logged, and answered in the protocol’s form: %s',
  async (error, status) => {
    answer.mockRejectedValue(error);
    const said = await saidTo(head('/payment/bet?token=secret', LENGTH), '{}');
    expect(said).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} .*\\{"code":100,"message":"System error"\\}$`, 's'),
    );
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ msg: 'http.failed', method: 'POST', url: '/payment/bet' }),
    ]);
  },
);

it('a callback learns that it was answered, or that its caller has hung up (I11)', async () => {
  const closed = vi.fn();
  answer.mockImplementation(async (callback) => {
    callback.whenClosed(closed);
    return { status: 200, body: '{}' };
  });
  await saidTo(head('/payment/bet', LENGTH), '{}');
  await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());

  const heard = Promise.withResolvers<void>();
  answer.mockImplementation(async (callback) => {
    callback.whenClosed(closed);
    heard.resolve();
    return await new Promise(() => undefined);
  });
  const socket = await connected();
  socket.write(`${head('/payment/bet', LENGTH)}{}`);
  await heard.promise;
  expect(closed).toHaveBeenCalledOnce();
  socket.resetAndDestroy();
  await vi.waitFor(() => expect(closed).toHaveBeenCalledTimes(2));
});

it('a connection stays open after an answer, and ends with it while the gateway drains', async () => {
  const second = Promise.withResolvers<{ status: number; body: string }>();
  const began = Promise.withResolvers<void>();
  const socket = await connected();
  const said = text(socket);
  const request = `${head('/payment/bet', LENGTH)}{}`.replace('connection: close\r\n', '');
  socket.write(request);
  await vi.waitFor(() => expect(answer).toHaveBeenCalledOnce());
  answer.mockImplementation(async () => {
    began.resolve();
    return await second.promise;
  });
  socket.write(request);
  await began.promise;
  const closed = app.close();
  await vi.waitFor(() => expect(app.server.listening).toBe(false));
  second.resolve({ status: 200, body: 'the second' });
  expect(await said).toMatch(
    / 200 OK.*keep-alive.*\{\}é.* 200 OK.*connection: close.*the second$/is,
  );
  await closed;
});
