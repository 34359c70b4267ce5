import { once } from 'node:events';
import { connect } from 'node:net';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { type RedisOptions, startRedis } from '../../../tools/embedded/redis.ts';
import type { EmbeddedServer } from '../../../tools/embedded/server.ts';
import { isAlive, useOwnTemporaryFolder } from './support/scratch.ts';

const temporary = useOwnTemporaryFolder();

const started: EmbeddedServer[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function start(options?: RedisOptions): Promise<EmbeddedServer> {
  const server = await startRedis(options);
  started.push(server);
  return server;
}

async function ask<T>(url: string, question: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: null,
  });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await question(redis);
  } finally {
    redis.disconnect();
  }
}

async function setting(url: string, name: string): Promise<unknown> {
  const answer: unknown = await ask(url, (redis) => redis.config('GET', name));
  return Array.isArray(answer) ? answer[1] : answer;
}

describe('an embedded Redis', () => {
  it('evicts nothing, writes nothing to disk and listens on 127.0.0.1 alone', async () => {
    const { url } = await start();
    expect(await setting(url, 'maxmemory-policy')).toBe('noeviction');
    expect(await setting(url, 'save')).toBe('');
    expect(await setting(url, 'appendonly')).toBe('no');
    expect(await setting(url, 'bind')).toBe('127.0.0.1');
  });

  it('asks for its password and takes settings', async () => {
    const { url, port } = await start({ settings: { databases: '3' } });
    expect(await setting(url, 'databases')).toBe('3');
    const stranger = connect(port, '127.0.0.1').setEncoding('utf8');
    stranger.write('GET a\r\n');
    const [answer]: unknown[] = await once(stranger, 'data');
    stranger.destroy();
    expect(answer).toContain('NOAUTH');
  });

  it('leaves no process and no folder when it is stopped, also twice', async () => {
    const server = await start();
    await Promise.all([server.stop(), server.stop()]);
    expect(isAlive(server.pid)).toBe(false);
    expect(await temporary.leftovers()).toEqual([]);
  });

  it('comes back empty on the same port after a kill', async () => {
    const server = await start();
    await ask(server.url, (redis) => redis.set('a', '1'));
    await server.kill();
    await expect(ask(server.url, (redis) => redis.get('a'))).rejects.toThrow();
    await server.restart();
    expect(await ask(server.url, (redis) => redis.get('a'))).toBeNull();
  });

  it('freezes and thaws, and can be stopped while frozen', async () => {
    const server = await start();
    await server.kill('SIGSTOP');
    const answer = ask(server.url, (redis) => redis.ping());
    const winner = await Promise.race([
      answer,
      new Promise((resolve) => setTimeout(resolve, 200, 'silence')),
    ]);
    expect(winner).toBe('silence');
    await server.kill('SIGCONT');
    expect(await answer).toBe('PONG');
    await server.kill('SIGSTOP');
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
  });

  it('starts many at once, each on its own port', async () => {
    const servers = await Promise.all(Array.from({ length: 4 }, () => start()));
    expect(new Set(servers.map((server) => server.port)).size).toBe(4);
  });

  it('says why it does not start, and leaves nothing behind', async () => {
    await expect(start({ settings: { 'no-such-setting': '1' } })).rejects.toThrow(
      /Redis did not start: .*no-such-setting/,
    );
    expect(await temporary.leftovers()).toEqual([]);
  });
});
