import { connect } from 'node:net';
import Fastify from 'fastify';
import { expect, it, onTestFinished, vi } from 'vitest';
import { probeRoutes } from '../../../src/admin/operators/probes.ts';

/** A listener with these metrics. */
function listening(text: () => AsyncIterable<string>) {
  const app = Fastify();
  onTestFinished(() => app.close());
  probeRoutes(app, {
    health: { report: () => Promise.reject(new Error('nobody asks')) },
    metrics: { contentType: 'text/plain', text },
  });
  return app;
}

/** A scrape of such a listener. */
function scraped(text: () => AsyncIterable<string>) {
  const app = listening(text);
  return async (remoteAddress: string) =>
    (await app.inject({ url: '/metrics', remoteAddress })).body;
}

it('scrapes of one address are written one at a time, and another address waits for none of them (I7)', async () => {
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const scrape = scraped(async function* () {
    begun += 1;
    const text = `scrape ${begun}`;
    if (begun === 1) await gate.promise;
    yield text;
  });
  const first = scrape('192.0.2.1');
  await vi.waitFor(() => expect(begun).toBe(1));
  const second = scrape('192.0.2.1');
  expect(await scrape('192.0.2.2')).toBe('scrape 2');
  gate.resolve();
  expect([await first, await second]).toEqual(['scrape 1', 'scrape 3']);
});

it('a scrape leaves everything else its turn after each chunk (I7)', async () => {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  const turns = new Set<number>();
  const scrape = scraped(async function* () {
    for (let chunk = 0; chunk < 20; chunk += 1) {
      turns.add(turn);
      yield 'x';
    }
  });
  expect(await scrape('192.0.2.1')).toBe('x'.repeat(20));
  isOver = true;
  expect(turns.size).toBe(20);
});

it.each(['gzip', 'identity'])(
  'nothing is read for HEAD, with %s: nobody could stop it (I7)',
  async (coding) => {
    let begun = 0;
    const app = listening(async function* () {
      begun += 1;
      yield 'x';
    });
    const headers = { 'accept-encoding': coding };
    const answer = await app.inject({ method: 'HEAD', url: '/metrics', headers });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/plain']);
    await app.close();
    expect(begun).toBe(0);
  },
);

it('nothing is written for scrapers that have left while they waited for their turn (I7)', async () => {
  const gate = Promise.withResolvers<void>();
  let begun = 0;
  const app = listening(async function* () {
    begun += 1;
    if (begun === 1) await gate.promise;
    yield 'x';
  });
  const url = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  // Eight on one connection, as many as a stranger may have waiting.
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  socket.write('GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(8));
  await vi.waitFor(() => expect(begun).toBe(1));
  socket.resetAndDestroy();
  await vi.waitFor(
    async () =>
      expect(await new Promise((told) => app.server.getConnections((_, n) => told(n)))).toBe(0),
    { timeout: 15_000 },
  );
  gate.resolve();
  const last = await fetch(new URL('/metrics', url));
  expect([await last.text(), begun]).toEqual(['x', 2]);
});
