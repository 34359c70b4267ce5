import { connect, type Socket } from 'node:net';
import { setImmediate as otherWork } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { EventLoopLag } from '../../src/http/arrival.ts';
import { createPublicServer } from '../../src/http/public-server.ts';
import { PATIENT_MS } from '../support/timing.ts';

/** How much work strangers may cause the parser before they are known: little (I7, I11). */

/** More than the system's buffers on both sides take. */
const LONG_ANSWER = 'z'.repeat(24 * 1_048_576);

const lag = new EventLoopLag(systemClock);
const closed: string[] = [];
let pieces = 0;
let handled = 0;
const app = createPublicServer({
  clock: systemClock,
  logger: pino({ level: 'silent' }),
  lag,
  trustProxy: () => false,
  connectionLimits: () => ({
    maxConnections: 1_000,
    strangerIdleMs: 60_000,
    arrivingBytesMax: 1_000_000_000,
  }),
  onClosed: (why) => closed.push(why),
  requestTimeoutMs: 20_000,
  silentMsMax: 30_000,
});
app.addHook('preParsing', (_request, _reply, payload, done) => {
  payload.on('data', () => {
    pieces += 1;
  });
  done(null, payload);
});
app.get('/', async () => {
  handled += 1;
  return 'yes';
});
app.get('/long', async () => {
  handled += 1;
  return LONG_ANSWER;
});
app.post('/', async ({ body }) => {
  handled += 1;
  return body;
});

let port: number;
beforeAll(async () => {
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
beforeEach(() => {
  closed.length = 0;
  pieces = 0;
  handled = 0;
});
afterAll(async () => {
  lag.close();
  await app.close();
});

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';
const CHUNKED = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
const post = (body: string) =>
  `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const chunkedIn = (size: number, body: string) => {
  const parts = body.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
  return `${CHUNKED}${parts.map(chunk).join('')}0\r\n\r\n`;
};

async function open(): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => socket.destroy());
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return socket;
}

/** Everything that comes back until the other side closes. */
async function say(bytes: readonly string[]): Promise<string> {
  const socket = await open();
  let heard = '';
  socket.setEncoding('latin1').on('data', (text) => {
    heard += text;
  });
  for (const some of bytes) {
    if (bytes.length > 1) await new Promise((resolve) => setImmediate(resolve));
    if (!socket.destroyed) socket.write(some);
  }
  // Ends the connection, but not before everything was sent.
  socket.end();
  if (!socket.destroyed) await new Promise((resolve) => socket.once('close', resolve));
  return heard;
}

const answersIn = (heard: string) => heard.match(/HTTP\/1\.1 200 OK\r\n/g)?.length ?? 0;

describe('a body of crumbs', () => {
  it('is broken off after some hundred of them, however many have come (I7)', async () => {
    const heard = await say([chunkedIn(1, 'x'.repeat(200_000))]);
    expect(heard).toBe('');
    expect(closed).toEqual(['pieces']);
    // Of 11,000 in a first read of 64 KiB: each costs everybody some microseconds.
    expect(pieces).toBeLessThan(600);
    expect(handled).toBe(0);
  });

  it.each([
    ['a slow writer’s words', 1, 250],
    ['the smallest packets', 536, 250_000],
  ])('is taken where it is %s', async (_, size, length) => {
    const heard = await say([chunkedIn(size, 'x'.repeat(length))]);
    expect(answersIn(heard)).toBe(1);
    expect(heard.endsWith('x'.repeat(length))).toBe(true);
    expect(closed).toEqual([]);
  });
});

describe('requests that wait for no answer', () => {
  it('are broken off at the ninth, and no further one is looked at (I7)', async () => {
    await say([GET.repeat(2_500)]);
    expect(closed).toEqual(['pipelined']);
    expect(handled).toBeLessThanOrEqual(8);
  });

  it('are answered in their order where they are few', async () => {
    const bodies = Array.from({ length: 8 }, (_, n) => `{"n":${n}}`);
    const heard = await say([bodies.map(post).join('')]);
    expect(heard.match(/\{"n":\d\}/g)).toEqual(bodies);
    expect(closed).toEqual([]);
  });

  it('wait until a long answer before them has been taken, and end no process meanwhile (I7)', async () => {
    const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
    app.server.once('connection', resolve);
    const socket = await open();
    const itsOtherEnd = await accepted;
    socket.write(GET.replace('/', '/long'));
    await vi.waitFor(() => expect(handled).toBe(1), PATIENT_MS);
    // Nobody reads. In several pieces, of which the first one holds a whole head.
    const before = itsOtherEnd.bytesRead;
    socket.write(`${post('x'.repeat(3_000))}${post('y'.repeat(3_000))}${GET}`);
    await vi.waitFor(() => expect(itsOtherEnd.bytesRead).toBeGreaterThan(before), PATIENT_MS);
    await otherWork();
    let heard = 0;
    let end = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      heard += text.length;
      end = `${end}${text}`.slice(-8_000);
    });
    await vi.waitFor(() => expect(end.endsWith('yes')).toBe(true), PATIENT_MS);
    expect([heard > LONG_ANSWER.length, answersIn(end)]).toEqual([true, 3]);
    expect([end.includes('x'.repeat(3_000)), end.includes('y'.repeat(3_000))]).toEqual([
      true,
      true,
    ]);
    socket.destroy();
    expect(closed).toEqual([]);
  });

  it('may follow each other for ever', async () => {
    const socket = await open();
    let heard = '';
    socket.setEncoding('latin1').on('data', (text) => {
      heard += text;
    });
    for (let count = 1; count <= 50; count += 1) {
      socket.write(GET);
      await vi.waitFor(() => expect(answersIn(heard)).toBe(count), {
        interval: 1,
        timeout: PATIENT_MS,
      });
    }
    socket.destroy();
    expect(closed).toEqual([]);
  });
});

it('reads the same, however the bytes are torn and whenever the sender ends', async () => {
  const body = fc.integer({ min: 0, max: 5_000 }).map((length) => 'b'.repeat(length));
  const request = fc.oneof(
    fc.constant(GET),
    body.map(post),
    body.map((text) => chunkedIn(700, text)),
  );
  const torn = fc.tuple(
    fc.array(request, { minLength: 1, maxLength: 6 }),
    fc.array(fc.integer({ min: 1, max: 6_000 }), { maxLength: 6 }),
  );
  await fc.assert(
    fc.asyncProperty(torn, async ([requests, cuts]) => {
      let rest = requests.join('');
      const parts: string[] = [];
      for (const cut of cuts) {
        parts.push(rest.slice(0, cut));
        rest = rest.slice(cut);
      }
      const heard = await say([...parts, rest].filter((part) => part !== ''));
      expect(answersIn(heard)).toBe(requests.length);
    }),
    { numRuns: 60 },
  );
  expect(closed).toEqual([]);
}, 60_000);
