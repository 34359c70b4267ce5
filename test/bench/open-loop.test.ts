import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { OpenJob } from '../../bench/open-loop/job.ts';
import { Sender } from '../../bench/open-loop/sender.ts';
import { trendOf } from '../../bench/steady/trend.ts';

const SLOW_MS = 400;
const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

describe('the sender of benchmarks', () => {
  it('counts what a request waits behind a slow answer as its own time', async () => {
    const url = await serve(async (n) => {
      if (n === 0) await sleep(SLOW_MS);
      return [200, '{}'];
    });
    const sender = new Sender(job(url, { connectionsMax: 1 }));
    await sender.run();
    expect(sender.calls.map(({ answer }) => answer)).toEqual(Array(20).fill('200'));
    const waitedMs = sender.calls.map(({ dueAtMs, answeredAtMs }) => answeredAtMs - dueAtMs);
    // The tenth was due 90 ms after the first, and had to wait for its answer.
    expect(waitedMs[9]).toBeGreaterThan(SLOW_MS - 90 - 20);
  });

  it('goes on sending at its rate while an answer hangs, on another connection', async () => {
    const url = await serve(async (n) => {
      if (n === 0) await sleep(SLOW_MS);
      return [200, '{}'];
    });
    const sender = new Sender(job(url, { connectionsMax: 50 }));
    await sender.run();
    const [first, ...others] = sender.calls;
    const before = others.filter((call) => call.answeredAtMs < (first?.answeredAtMs ?? 0));
    expect(before.length).toBeGreaterThan(10);
  });

  it('gives up what finds no connection, and tells refusals and broken connections apart', async () => {
    const url = await serve(async (n) => {
      if (n === 3) await sleep(SLOW_MS);
      if (n === 2) return undefined;
      return n === 1 ? [400, '{"code":100,"message":"x"}'] : [200, '{}'];
    });
    const sender = new Sender(job(url, { connectionsMax: 1, queueMs: 100 }));
    await sender.run();
    const kinds = new Set(sender.calls.map(({ answer }) => answer));
    expect(kinds).toEqual(new Set(['200', '400:100', 'broken', 'unsent']));
  });
});

describe('a trend', () => {
  it('is the slope of a line, and the noise around it', () => {
    expect(trendOf([1, 3, 5, 7])).toEqual({ slope: 2, noise: 0 });
    const { slope, noise } = trendOf([10, 11, 10, 11, 10]);
    expect([slope, noise > 0.4]).toEqual([0, true]);
  });
});

/** Twenty balances in a fifth of a second. */
function job(url: string, more: Partial<OpenJob>): OpenJob {
  const players = [{ userId: 'player', token: 'token', currency: 'USD' }];
  return {
    ...{ url, players, operation: 'balance', prefix: 'test-', secret: 'a-secret-of-the-service' },
    phases: [{ perSecond: 100, seconds: 0.2 }],
    connectionsMax: 1,
    ...more,
  };
}

/** @param answer the answer to the request with this number; undefined breaks its connection */
async function serve(
  answer: (n: number) => Promise<readonly [number, string] | undefined>,
): Promise<string> {
  let count = 0;
  const onRequest: RequestListener = (request, response) => {
    const n = count;
    count += 1;
    request.resume().on('end', () => {
      void answer(n).then((told) => {
        if (told === undefined) return request.socket.destroy();
        const [status, body] = told;
        return response.writeHead(status, { 'content-length': body.length }).end(body);
      });
    });
  };
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return `http://127.0.0.1:${address.port}`;
}
