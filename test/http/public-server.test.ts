import { pino } from 'pino';
import { request } from 'undici';
import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { EventLoopLag } from '../../src/http/arrival.ts';
import { createPublicServer } from '../../src/http/public-server.ts';

const lag = new EventLoopLag(systemClock, false);
const lines: string[] = [];
const app = createPublicServer({
  clock: systemClock,
  logger: pino({ level: 'trace' }, { write: (line: string) => lines.push(line) }),
  lag,
  trustProxy: () => ['127.0.0.0/8'],
  connectionLimits: () => ({
    maxConnections: 10,
    strangerIdleMs: 5_000,
    arrivingBytesMax: 1_048_576,
  }),
  onClosed: () => undefined,
  requestTimeoutMs: 4_500,
});
afterEach(async () => {
  lag.close();
  await app.close();
});

it('says nothing of a request whose connection was reset before it was looked at', async () => {
  const handled = vi.fn();
  app.post('/', async ({ ip }, reply) => {
    handled(ip);
    return reply.send('');
  });
  // The reset comes in the very moment before: as under load, when many requests wait.
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  app.server.prependListener('request', ({ socket }) => socket.resetAndDestroy());
  const headers = { 'x-request-start': `t=${Date.now() / 1000}`, 'x-forwarded-for': '192.0.2.1' };
  const asked = request(baseUrl, { method: 'POST', headers, body: '{}' });
  await expect(asked).rejects.toThrow();
  expect(lines.filter((line) => line.includes('stack'))).toEqual([]);
});
