import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import type { Exchange } from '../../src/outbound/http-call.ts';
import { HttpClient } from '../../src/outbound/http-client.ts';
import { deadlineIn } from '../wallets/support/calls.ts';
import { type RawWallet, reply, startRawWallet } from '../wallets/support/raw-wallet.ts';
import { effort } from './support/effort.ts';
import { goodAnswer, HTTP_WORDS } from './support/http-answers.ts';
import { mutated } from './support/mutations.ts';

const ANSWER_BYTES_MAX = 4 * 1024;
/** How long an endless answer may take in this test; and more than even a busy machine needs. */
const LIMIT_MS = 200;
const SETTLED_MS_MAX = LIMIT_MS + 10_000;

type Ending = 'open' | 'end' | 'reset';

/** What the wallet writes when the path with its number is requested. */
interface Script {
  readonly pieces: readonly Buffer[];
  readonly ending: Ending;
}

const scripts = new Map<string, Script>();
let wallet: RawWallet;
let client: HttpClient;
let called = 0;

beforeAll(async () => {
  wallet = await startRawWallet(({ line, socket }) => {
    const [, path = ''] = line.split(' ');
    const script = scripts.get(path);
    scripts.delete(path);
    if (script === undefined) reply(socket, 200, GOOD);
    else void play(socket, script);
  });
  client = new HttpClient({
    clock: systemClock,
    origin: wallet.origin,
    allowPrivate: true,
    timeoutMs: 10_000,
    connections: 8,
  });
});
afterAll(async () => {
  await client.close();
  await wallet.close();
});

/** Each piece leaves the process separately, so that the other side's parser receives it so. */
async function play(socket: Socket, { pieces, ending }: Script): Promise<void> {
  socket.setNoDelay(true);
  for (const piece of pieces) {
    if (socket.destroyed) return;
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    if (pieces.length > 1) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  if (ending === 'end') socket.end();
  if (ending === 'reset') socket.resetAndDestroy();
}

async function ask(script: Script | undefined, limitMs = LIMIT_MS): Promise<Exchange> {
  called += 1;
  const path = `/${called}`;
  if (script !== undefined) scripts.set(path, script);
  const request = { method: 'POST', path, headers: {}, body: Buffer.from('{}') } as const;
  return await client.exchange(
    { ...request, answerBytesMax: ANSWER_BYTES_MAX },
    deadlineIn(limitMs),
  );
}

/** Expects that nothing written earlier is taken for a later call's answer, or blocks it. */
async function expectUnharmed(): Promise<void> {
  await Promise.all(Array.from({ length: 8 }, async () => expect(await plainAnswer()).toBe(GOOD)));
}

const GOOD = '{"good":true}';

async function plainAnswer(): Promise<string> {
  // A connection that the wallet resets after its answer may cost the calls that wait for it. They report that (not
  // sent), and at most eight can wait.
  for (let tries = 0; tries < 10; tries += 1) {
    const exchange = await ask(undefined, 10_000);
    if (exchange.kind === 'response') return exchange.body.toString();
    expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
  }
  return 'no connection would take the call';
}

/** The positions at which to cut the bytes; positions beyond the end wrap around. */
function cutAt(wire: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (wire.length + 1)))].sort((a, b) => a - b);
  return [...ends, wire.length]
    .map((end, at, all) => wire.subarray(all[at - 1] ?? 0, end))
    .filter((piece) => piece.length > 0);
}

describe('what a wallet writes to its socket', () => {
  it('is the answer it spells, wherever it is torn', async () => {
    const torn = fc.tuple(goodAnswer, fc.array(fc.nat(), { maxLength: 6 }));
    await fc.assert(
      fc.asyncProperty(torn, async ([{ wire, status, body }, places]) => {
        const exchange = await ask({ pieces: cutAt(wire, places), ending: 'open' }, 10_000);
        expect(exchange).toMatchObject({ kind: 'response', status });
        expect(bodyOf(exchange)).toBe(body);
      }),
      effort(150),
    );
    await expectUnharmed();
  });

  it('is the same answer byte by byte', async () => {
    const answers = fc.sample(goodAnswer, effort(6));
    for (const { wire, status, body } of answers) {
      const bytewise = [...wire].map((byte) => Buffer.from([byte]));
      const exchange = await ask({ pieces: bytewise, ending: 'open' }, 10_000);
      expect(exchange).toMatchObject({ kind: 'response', status });
      expect(bodyOf(exchange)).toBe(body);
    }
  });

  it('is no answer before it is whole, wherever it breaks off (I2)', async () => {
    const whole = reply200('{"transactionId":"t1","transactionTime":"2026-01-02T03:04:05Z"}');
    const cuts = Array.from({ length: whole.length }, (_, at) => whole.subarray(0, at));
    for (const ending of ['end', 'reset'] as const) {
      for (const group of groupsOf(cuts, 32)) {
        const exchanges = await Promise.all(
          group.map((cut) => ask({ pieces: cut.length === 0 ? [] : [cut], ending }, 10_000)),
        );
        for (const exchange of exchanges) expect(exchange.kind).toBe('failed');
      }
    }
    await expectUnharmed();
  });

  it('is an answer of bounded size or a failure, in time, whatever it is (I1, I2)', async () => {
    const spelled = fc.sample(goodAnswer, effort(40)).map(({ wire }) => wire);
    const script = fc.record({
      wire: fc.oneof(
        { weight: 4, arbitrary: mutated(spelled, HTTP_WORDS) },
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((all) => Buffer.from(all)) },
      ),
      places: fc.array(fc.nat(), { maxLength: 3 }),
      ending: fc.constantFrom<Ending>('end', 'end', 'end', 'reset', 'reset', 'open'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(script, { minLength: 8, maxLength: 8 }), async (all) => {
        const startedAtMs = performance.now();
        const exchanges = await Promise.all(
          all.map(({ wire, places, ending }) => ask({ pieces: cutAt(wire, places), ending })),
        );
        expect(performance.now() - startedAtMs).toBeLessThan(SETTLED_MS_MAX);
        for (const exchange of exchanges) {
          if (exchange.kind !== 'response') continue;
          expect(exchange.status).toBeGreaterThanOrEqual(200);
          expect(exchange.body.length).toBeLessThanOrEqual(ANSWER_BYTES_MAX);
        }
        await expectUnharmed();
      }),
      effort(25),
    );
  });

  it('never answers the next call with what came unasked', async () => {
    const unasked = reply200('{"unasked":true}');
    const one = new HttpClient({
      clock: systemClock,
      origin: wallet.origin,
      allowPrivate: true,
      timeoutMs: 10_000,
      connections: 1,
    });
    for (let round = 0; round < 20; round += 1) {
      const path = `/twice/${round}`;
      const twice = Buffer.concat([reply200('{"first":true}'), unasked]);
      scripts.set(path, { pieces: [twice], ending: 'open' });
      const call = (where: string) =>
        one.exchange(
          {
            method: 'POST',
            path: where,
            headers: {},
            body: Buffer.from('{}'),
            answerBytesMax: 1_000,
          },
          deadlineIn(10_000),
        );
      // The second call waits for the connection on which both answers come at once.
      const [first, second] = await Promise.all([call(path), call('/waiting')]);
      expect(bodyOf(first)).toBe('{"first":true}');
      expect(bodyOf(second)).not.toBe('{"unasked":true}');
      expect(bodyOf(await call('/after'))).not.toBe('{"unasked":true}');
    }
    await one.close();
  });
});

function bodyOf(exchange: Exchange): string | undefined {
  return exchange.kind === 'response' ? exchange.body.toString() : undefined;
}

function reply200(body: string): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

function groupsOf<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, at) => items.slice(at * size, (at + 1) * size));
}
