import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConnectionFault } from '../../../tools/torture/plan/plan.ts';
import { LinkProxy } from '../../../tools/torture/world/link-proxy.ts';
import { PATIENT_MS } from '../../support/timing.ts';

describe('the proxy before PostgreSQL and Redis', () => {
  let server: Server;
  let proxy: LinkProxy;
  let near: Socket;
  /** What reached the server. */
  let heard: string;
  /** What came back: the server repeats everything twice. */
  let told: string;

  beforeEach(async () => {
    [heard, told] = ['', ''];
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        heard += chunk;
        socket.write(`${chunk}${chunk}`);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address !== 'object') throw new Error('no address');
    proxy = new LinkProxy({ host: '127.0.0.1', port: address.port });
    await proxy.up();
    near = connect(proxy.port, '127.0.0.1');
    near.on('data', (chunk) => {
      told += chunk;
    });
    near.on('error', () => undefined);
    await once(near, 'connect');
  });
  afterEach(async () => {
    near.destroy();
    await proxy.cut();
    server.close();
    await once(server, 'close');
  });

  const isTold = (text: string) => vi.waitFor(() => expect(told).toBe(text), PATIENT_MS);
  const breaks = () => vi.waitFor(() => expect(near.destroyed).toBe(true), PATIENT_MS);
  /** Sends something harmless, then the word, which triggers the fault. */
  async function meet(fault: ConnectionFault, ms: number): Promise<void> {
    proxy.watch('word', (link) => link.suffer(fault, ms));
    near.write('a');
    await isTold('aa');
    near.write('word');
  }

  it('passes everything on', async () => {
    near.write('a');
    await isTold('aa');
  });

  it('holds a request until its time is over, even when its sender has gone', async () => {
    await meet('holdRequest', 150);
    near.end();
    expect(heard).toBe('a');
    await vi.waitFor(() => expect(heard).toBe('aword'), PATIENT_MS);
  });

  it('holds an answer: the server has done it by then', async () => {
    await meet('holdAnswer', 150);
    await vi.waitFor(() => expect(heard).toBe('aword'), PATIENT_MS);
    expect(told).toBe('aa');
    await isTold('aawordword');
  });

  it('loses a request before the server hears it', async () => {
    await meet('loseRequest', 0);
    await breaks();
    expect(heard).toBe('a');
  });

  it('loses an answer after the server has done it', async () => {
    await meet('loseAnswer', 0);
    await breaks();
    expect(heard).toBe('aword');
    expect(told).toBe('aa');
  });

  it('withdraws faults that have hit nothing', async () => {
    near.write('a');
    await isTold('aa');
    proxy.someLink(0)?.suffer('loseAnswer', 0);
    await proxy.heal();
    near.write('b');
    await isTold('aabb');
  });

  it('freezes and cuts for all, and heals', async () => {
    proxy.freeze();
    near.write('a');
    await proxy.heal();
    await isTold('aa');
    await proxy.cut();
    await breaks();
    await proxy.heal();
    const again = connect(proxy.port, '127.0.0.1');
    again.on('data', (chunk) => {
      told = String(chunk);
    });
    again.write('b');
    await isTold('bb');
    again.destroy();
  });
});
