import { afterEach, describe, expect, it } from 'vitest';
import { refusedOrigin } from '../support/refused-origin.ts';
import { deadlineIn, manualClock } from '../wallets/support/calls.ts';
import { reply } from '../wallets/support/raw-wallet.ts';
import { client, closeOpened, post, wallet } from './support/client.ts';

afterEach(closeOpened);

describe('a request whose connection comes just before the operator’s own limit is over', () => {
  it('is not sent: nobody would hear the answer to it (I2)', async () => {
    const server = await wallet(({ socket }, index) => {
      if (index > 0) reply(socket, 200, '{}');
    });
    const clock = manualClock();
    const http = client(server.origin, { connections: 1, timeoutMs: 2000, clock });
    const first = http.exchange(post(), deadlineIn(4000));
    const { socket } = await server.arrived(1);
    const hasty = http.exchange(post(), deadlineIn(4000));
    clock.advance(960);
    const patient = http.exchange(post(), deadlineIn(4000));
    clock.advance(1000);
    reply(socket, 200, '{}');
    await first;
    // It waited for longer than a second.
    expect(await hasty).toMatchObject({ kind: 'notSent', reason: 'connection' });
    expect(await patient).toMatchObject({ kind: 'response', status: 200 });
    expect([server.requests.length, server.connections]).toEqual([2, 1]);
  });

  it('says nothing about the wallet if the limit is shorter than a second', async () => {
    const server = await wallet(() => undefined);
    const clock = manualClock();
    const http = client(server.origin, { connections: 1, timeoutMs: 500, clock });
    const first = http.exchange(post(), deadlineIn(4000));
    const { socket } = await server.arrived(1);
    const queued = http.exchange(post(), deadlineIn(4000));
    clock.advance(460);
    reply(socket, 200, '{}');
    await first;
    expect(await queued).toMatchObject({ kind: 'notSent', reason: 'deadline' });
    expect(server.requests).toHaveLength(1);
  });
});

describe('a connection that is always busy', () => {
  const MINUTE_MS = 60_000;

  it('is closed after a minute: its name may mean another machine by then', async () => {
    const clock = manualClock();
    const server = await wallet(({ socket }) => reply(socket, 200, '{}'));
    const http = client(server.origin, { connections: 1, clock });
    const exchange = async (afterMs: number) => {
      clock.advance(afterMs);
      return (await http.exchange(post(), deadlineIn(3000))).kind;
    };
    expect([await exchange(0), await exchange(MINUTE_MS / 2)]).toEqual(['response', 'response']);
    expect(server.connections).toBe(1);
    expect(await exchange(MINUTE_MS / 2 + 1)).toBe('response');
    expect(server.connections).toBe(2);
  });

  it('delivers the answer to what it has sent nevertheless', async () => {
    const clock = manualClock();
    const server = await wallet(({ socket }, index) => {
      if (index > 0) reply(socket, 200, '{}');
    });
    const http = client(server.origin, { connections: 1, clock });
    const first = http.exchange(post(), deadlineIn(3000));
    const { socket } = await server.arrived(1);
    clock.advance(MINUTE_MS + 1);
    expect(await http.exchange(post(), deadlineIn(3000))).toMatchObject({ status: 200 });
    reply(socket, 400, '{"code":7}');
    expect(await first).toMatchObject({ kind: 'response', status: 400 });
    expect([server.connections, server.requests.length]).toEqual([2, 2]);
  });
});

describe.each(['tcp', 'tls'] as const)(
  'a connection that brings more than was asked for, over %s',
  (wire) => {
    it('is noticed by the copy of an answer, once: then each call has a connection of its own (I2)', async () => {
      const server = await wallet(({ socket }) => reply(socket, 400, '{"code":7}'), wire);
      const twice: (string | undefined)[] = [];
      const http = client(server.origin, {
        connections: 1,
        onAnsweredTwice: (requestId) => twice.push(requestId),
      });
      const ask = (id: string) =>
        http.exchange(post({ headers: { 'x-request-id': id } }), deadlineIn(3000));
      await ask('first');
      const { socket } = await server.arrived(1);
      reply(socket, 400, '{"code":7}');
      await expect.poll(() => twice).toEqual(['first']);
      for (const id of ['second', 'third']) await ask(id);
      expect([twice.length, server.connections]).toEqual([1, 3]);
    });

    it('is noticed by a copy that comes in one piece with its answer', async () => {
      const server = await wallet(({ socket }, index) => {
        reply(socket, 400, '{"code":7}');
        if (index === 1) reply(socket, 400, '{"code":7}');
      }, wire);
      const twice: (string | undefined)[] = [];
      const http = client(server.origin, {
        connections: 1,
        onAnsweredTwice: (requestId) => twice.push(requestId),
      });
      const ask = (id: string) =>
        http.exchange(post({ headers: { 'x-request-id': id } }), deadlineIn(3000));
      for (const id of ['first', 'second']) await ask(id);
      await expect.poll(() => twice).toEqual(['second']);
      expect(await ask('third')).toMatchObject({ kind: 'response', status: 400 });
      expect(server.connections).toBe(2);
    });
  },
);

describe('a client that has been closed', () => {
  it('opens nothing, and says nothing, when an earlier answer turns out to be another call’s', async () => {
    const server = await wallet(({ socket }) => reply(socket, 200, '{"transactionId":"another"}'));
    let said = 0;
    const http = client(server.origin, { connections: 1, onAnsweredTwice: () => (said += 1) });
    await http.exchange(post(), deadlineIn(3000));
    const late = await http.exchange(post(), deadlineIn(3000));
    await http.close();
    http.distrustConnections(late);
    expect(await http.exchange(post(), deadlineIn(3000))).toMatchObject({ kind: 'notSent' });
    expect([said, server.connections]).toEqual([0, 1]);
  });
});

describe('a client with a call in flight and another that waits for its connection', () => {
  it('sends both before it closes', async () => {
    const server = await wallet(({ socket }, index) => {
      if (index > 0) reply(socket, 200, '{}');
    });
    const http = client(server.origin, { connections: 1 });
    const calls = [
      http.exchange(post(), deadlineIn(3000)),
      http.exchange(post(), deadlineIn(3000)),
    ];
    const { socket } = await server.arrived(1);
    const closed = http.close();
    reply(socket, 200, '{}');
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
    await closed;
    expect([kinds, server.requests.length]).toEqual([['response', 'response'], 2]);
  });
});

describe('a call that waits while its wallet refuses connections', () => {
  it('fails with a connection of its own, and the next has one again', async () => {
    const http = client(await refusedOrigin(), { connections: 1 });
    const calls = Array.from({ length: 3 }, () => http.exchange(post(), deadlineIn(3000)));
    for (const exchange of await Promise.all(calls)) {
      expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
    }
  });
});

describe('a request that HTTP does not allow', () => {
  it('is not sent, and takes no connection from the next', async () => {
    const server = await wallet(({ socket }) => reply(socket, 200, '{}'));
    const http = client(server.origin, { connections: 1 });
    const broken = post({ headers: { 'x-request-id': 'a\r\nb' } });
    for (let i = 0; i < 2; i += 1) {
      expect(await http.exchange(broken, deadlineIn(3000))).toMatchObject({ kind: 'notSent' });
      expect(await http.exchange(post(), deadlineIn(3000))).toMatchObject({ status: 200 });
    }
    expect(server.requests).toHaveLength(2);
  });
});

describe('one call after the other', () => {
  it('keeps few connections in use, so that the others close', async () => {
    const server = await wallet(({ socket }) => reply(socket, 200, '{}'));
    const http = client(server.origin, { connections: 4 });
    const burst = Array.from({ length: 4 }, () => http.exchange(post(), deadlineIn(3000)));
    await Promise.all(burst);
    const used = new Set<unknown>();
    for (let i = 0; i < 8; i += 1) {
      await http.exchange(post(), deadlineIn(3000));
      used.add(server.requests.at(-1)?.socket);
    }
    // A connection is free again one turn of the loop after its answer.
    expect(used.size).toBeLessThanOrEqual(2);
    expect(server.connections).toBe(4);
  });
});
