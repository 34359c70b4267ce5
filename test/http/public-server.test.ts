import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { request } from 'undici';
import { afterAll, afterEach, beforeEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { EventLoopLag } from '../../src/http/arrival.ts';
import { createPublicServer } from '../../src/http/public-server.ts';
import { listenerOptions } from './support/listener.ts';

const SILENT_MS_MAX = 1_000;

const lag = new EventLoopLag(systemClock);
const lines: string[] = [];
let app: FastifyInstance;
beforeEach(() => {
  lines.length = 0;
  app = createPublicServer({
    ...listenerOptions(lines, lag),
    silentMsMax: SILENT_MS_MAX,
  });
});
afterEach(() => app.close());
afterAll(() => lag.close());

it('does not log a request whose connection was reset before it was looked at', async () => {
  const handled = vi.fn();
  app.post('/', async ({ ip }, reply) => {
    handled(ip);
    return reply.send('');
  });
  // The reset comes immediately before, as under load when many requests wait.
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  app.server.prependListener('request', ({ socket }) => socket.resetAndDestroy());
  const headers = { 'x-request-start': `t=${Date.now() / 1000}`, 'x-forwarded-for': '192.0.2.1' };
  const asked = request(baseUrl, { method: 'POST', headers, body: '{}' });
  await expect(asked).rejects.toThrow();
  expect(lines.filter((line) => line.includes('stack'))).toEqual([]);
});

it('answers what comes on an open connection while it drains, and then closes it', async () => {
  const first = Promise.withResolvers<string>();
  const began = Promise.withResolvers<void>();
  const draining = Promise.withResolvers<void>();
  app.addHook('preClose', async () => draining.resolve());
  app.post('/first', async () => {
    began.resolve();
    return await first.promise;
  });
  app.post('/second', async () => {
    first.resolve('the first');
    return 'the second';
  });
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const socket = connect(Number(port), '127.0.0.1');
  const post = (path: string) =>
    socket.write(`POST ${path} HTTP/1.1\r\nhost: gateway\r\ncontent-length: 0\r\n\r\n`);
  const told = text(socket);
  post('/first');
  await began.promise;
  const closed = app.close();
  await draining.promise;
  post('/second');
  expect(await told).toMatch(/ 200 OK.*the first.* 200 OK.*connection: close.*the second$/is);
  await closed;
});

it('waits for an answer for as long as it was told that the slowest one takes, and no longer', async () => {
  const answerAfterMs = new Map([
    ['/slow', SILENT_MS_MAX / 2],
    ['/never', 60_000],
  ]);
  for (const [path, ms] of answerAfterMs) {
    app.post(path, async () => await sleep(ms, 'the answer', { ref: false }));
  }
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  const ask = async (path: string) =>
    await (await request(`${baseUrl}${path}`, { method: 'POST' })).body.text();
  expect(await ask('/slow')).toBe('the answer');
  await expect(ask('/never')).rejects.toThrow('other side closed');
});
