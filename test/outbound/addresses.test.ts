import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTcpOpener } from '../../src/outbound/addresses.ts';
import { errorInWords, isOwnShortage, withoutIPv6 } from '../../src/outbound/error-words.ts';
import { BUSY_MS } from '../support/timing.ts';
import { portOf } from './support/client.ts';
import { deafPort } from './support/deaf-port.ts';

const HERE = '127.0.0.1';
/** Nobody listens there; on a machine without IPv6 it cannot be reached at all. */
const NOT_HERE = '::1';

async function deaf(host = HERE) {
  const port = await deafPort(host);
  onTestFinished(() => port.close());
  return port;
}

/** Connects to a name with these addresses. */
async function open(addresses: readonly string[], port: number, limitMs = 2_000) {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const opener = createTcpOpener(limitMs, (_hostname, done) => done(null, found));
  const startedAt = performance.now();
  const result = await new Promise<Error | Socket>((resolve) => {
    opener('wallet.example', `${port}`, (...[error, socket]) => resolve(error ?? socket));
  });
  if (!(result instanceof Error)) onTestFinished(() => void result.destroy());
  return { result, tookMs: performance.now() - startedAt };
}

/** How many connections of this machine wait for that port's first answer. */
async function askingFor(port: number): Promise<number> {
  const SYN_SENT = '02';
  const to = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n');
  return lines.filter((line) => new RegExp(`:${to} ${SYN_SENT} `).test(line)).length;
}

describe('a name with an address that cannot be reached from here', () => {
  it.each([
    ['alone', [HERE]],
    ['behind the one that can', [HERE, NOT_HERE]],
    ['before it', [NOT_HERE, HERE]],
  ])('is reached although a packet was lost (%s)', async (_, addresses) => {
    const port = await deaf();
    const opening = open(addresses, port.port);
    await sleep(400);
    port.hear();
    expect((await opening).result).toHaveProperty('remoteAddress', HERE);
  });
});

describe('a name with several addresses', () => {
  it('is reached by the next one where the first hangs, a quarter of a second later', async () => {
    const { port } = await deaf();
    const server = createServer().listen(port, '127.0.0.2');
    onTestFinished(() => void server.close());
    const { result, tookMs } = await open([HERE, '127.0.0.2'], port);
    expect(result).toHaveProperty('remoteAddress', '127.0.0.2');
    expect(tookMs).toBeGreaterThan(240);
    expect(tookMs).toBeLessThan(250 + BUSY_MS);
    await vi.waitFor(async () => expect(await askingFor(port)).toBe(0));
  });

  it('takes two files at most, however many of them hang (I7)', async () => {
    const { port } = await deaf('0.0.0.0');
    const opening = open(['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4'], port, 1_000);
    let isOpen = true;
    const ended = opening.finally(() => {
      isOpen = false;
    });
    let most = 0;
    for (; isOpen; await sleep(20)) {
      // Twice: the system's list may hold one that was given up while it was read beside its successor.
      const twice = [await askingFor(port), await askingFor(port)];
      most = Math.max(most, Math.min(...twice));
    }
    expect(most).toBe(2);
    const { result } = await ended;
    expect(result).toHaveProperty('code', 'UND_ERR_CONNECT_TIMEOUT');
    expect(result).toHaveProperty(
      'message',
      `no connection to wallet.example:${port} within 1000 ms`,
    );
    await vi.waitFor(async () => expect(await askingFor(port)).toBe(0));
  });

  it('fails by what all of them say', async () => {
    // Keeps its port from being given to anybody who listens on all addresses.
    const server = createServer().listen(0, HERE);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const port = portOf(server);
    const { result } = await open(['127.0.0.2', '127.0.0.3'], port);
    if (!(result instanceof Error)) throw new Error('there was somebody');
    expect(errorInWords(result)).toBe(
      `connection refused (connect ECONNREFUSED 127.0.0.2:${port}; connect ECONNREFUSED 127.0.0.3:${port})`,
    );
  });
});

it('a connection that stands is used although its limit passed while this process was busy (I7)', async () => {
  const server = createServer().listen(0, HERE);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // From here the event loop looks at timers first, and only then at connections.
  await new Promise(setImmediate);
  const opening = open([HERE], portOf(server), 50);
  process.nextTick(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100));
  expect((await opening).result).toHaveProperty('remoteAddress', HERE);
});

describe('an IPv6 address on a machine without IPv6', () => {
  it('is out of reach, which is no shortage that passes', () => {
    const message = 'connect EADDRNOTAVAIL 2a00:1450::1:443';
    const error = withoutIPv6(Object.assign(new Error(message), { code: 'EADDRNOTAVAIL' }));
    expect(errorInWords(error)).toBe(
      `network unreachable (ENETUNREACH: this machine has no IPv6 address (${message}))`,
    );
    expect(isOwnShortage(error)).toBe(false);
  });
});
