import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { Accelerator } from '../../src/redis/accelerator.ts';
import { listenOn, stopListening } from '../../tools/simulator/wallet/listener.ts';
import { privateRedis, sharedRedis } from '../support/redis.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const lines: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });

/** Real time, with jumps where a test wants them. */
class LeapingClock implements Clock {
  leapMs = 0;
  readonly nowMs = () => systemClock.nowMs() + this.leapMs;
  readonly monotonicMs = () => systemClock.monotonicMs() + this.leapMs;
}

describe('Redis as an accelerator', () => {
  let proxy: TcpProxy;
  let clock: LeapingClock;
  let redis: Accelerator;
  beforeEach(async () => {
    const { url: address } = await sharedRedis();
    proxy = await startTcpProxy(address);
    clock = new LeapingClock();
    redis = new Accelerator({ url: proxy.through(address), prefix: 'test:', clock, logger });
    await redis.connected(5_000);
  });
  afterEach(async () => {
    redis.close();
    await proxy.close();
  });

  it('keeps values and says that it did', async () => {
    expect(await redis.set('key', 'one', 60_000)).toBe(true);
    expect(await redis.setIfAbsent('key', 'two', 60_000)).toBe(false);
    expect(await redis.get('key')).toBe('one');
    expect(await redis.setIfAbsent('other', 'two', 60_000)).toBe(true);
    expect(await redis.get('missing')).toBeUndefined();
  });

  it('sets many at once, each for its time, and none that is there', async () => {
    await redis.set('there', 'first', 60_000);
    await redis.setAllIfAbsent(
      [
        ['there', 'second'],
        ['absent', 'a "quoted" \\ text'],
        ['also absent', ''],
      ],
      60_000,
    );
    expect(await redis.get('there')).toBe('first');
    expect(await redis.get('absent')).toBe('a "quoted" \\ text');
    expect(await redis.get('also absent')).toBe('');
    await redis.setAllIfAbsent([['short-lived', 'value']], 1);
    await expect.poll(() => redis.get('short-lived')).toBeUndefined();
  });

  it('takes an answer that came in time although this process was too busy to read it, and does not rest', async () => {
    const { url } = await sharedRedis();
    const direct = new Accelerator({ url, prefix: 'test:', clock: systemClock, logger });
    onTestFinished(() => direct.close());
    await direct.connected(5_000);
    await direct.set('key', 'value', 60_000);
    lines.length = 0;
    const asked = direct.set('key', 'later', 60_000);
    // Longer than Redis may take: another process had the processor, or a debugger held this one.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400));
    expect(await asked).toBe(true);
    expect(await direct.get('key')).toBe('later');
    expect(lines).toEqual([]);
  });

  it.each(['frozen', 'cut off'])(
    'never throws or waits long when it is %s, and works again after',
    async (how) => {
      await redis.set('key', 'value', 60_000);
      if (how === 'frozen') proxy.freeze();
      else await proxy.cut();
      const answers = [
        await redis.get('key'),
        await redis.set('key', 'other', 60_000),
        await redis.setIfAbsent('new', 'value', 60_000),
        await redis.isAnswering(),
      ];
      expect(answers).toEqual([undefined, false, false, false]);
      await proxy.restore();
      await expect
        .poll(() => {
          clock.leapMs += 1_000;
          return redis.setIfAbsent('again', 'value', 60_000);
        })
        .toBe(true);
    },
  );

  it('is not asked for a second after it failed: a frozen one must not slow every call', async () => {
    proxy.freeze();
    await redis.get('key');
    for (let call = 0; call < 100; call += 1) expect(await redis.get('key')).toBeUndefined();
    await proxy.restore();
  });

  it('takes an odd answer for none: something that only speaks like Redis', async (context) => {
    const odd = createServer((socket) => {
      socket.on('error', () => undefined);
      // Several commands may come in one chunk; each is answered with a number.
      socket.on('data', (bytes) => {
        for (const _ of String(bytes).matchAll(/^\*/gm)) socket.write(':17\r\n');
      });
    });
    const port = await listenOn(odd, 0);
    context.onTestFinished(() => stopListening(odd));
    const url = `redis://127.0.0.1:${port}`;
    const there = new Accelerator({ url, prefix: 'test:', clock, logger });
    context.onTestFinished(() => there.close());
    await there.connected(5_000);
    expect(await there.serverRun()).toBeUndefined();
    expect(await there.evictionPolicy()).toBeUndefined();
    expect(await there.getWhereTaken('key')).toBeUndefined();
    expect(await there.set('key', 'value', 1_000)).toBe(false);
  });

  it('is not there while Redis is full, and is again once it has room', async (context) => {
    const server = await privateRedis();
    context.onTestFinished(() => server.stop());
    const full = new Accelerator({ url: server.url, prefix: 'test:', clock, logger });
    context.onTestFinished(() => full.close());
    await full.connected(5_000);
    const admin = new Redis(server.url);
    context.onTestFinished(() => admin.disconnect());
    await admin.config('SET', 'maxmemory', '1');
    expect(await full.isAnswering()).toBe(false);
    await admin.config('SET', 'maxmemory', '0');
    expect(await full.isAnswering()).toBe(true);
  });

  it('says in the log why there is no connection, not only that there is none', async () => {
    await proxy.cut();
    lines.length = 0;
    const asked = async () => {
      clock.leapMs += 1_000;
      await redis.get('key');
      return lines.join('');
    };
    await expect.poll(asked).toMatch(/(?:ECONNREFUSED|EPIPE).*redis\.unavailable/);
    await proxy.restore();
    await expect.poll(() => redis.isAnswering()).toBe(true);
  });
});
