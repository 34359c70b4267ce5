import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { PATIENT_MS } from '../support/timing.ts';
import { deadlineIn } from '../wallets/support/calls.ts';
import { reply } from '../wallets/support/raw-wallet.ts';
import { client, closeOpened, KIB, post, wallet } from './support/client.ts';

afterEach(closeOpened);

/** Long enough for a busy machine to send a call. */
const SOON_MS = 1_000;

/** The system takes all of it to be sent, and only a part of it fits into what the other side has for unread bytes. */
const LONG = Buffer.from(JSON.stringify({ transactionId: 't2', pad: 'x'.repeat(1024 * KIB) }));

describe.each(['tcp', 'tls'] as const)('a call over %s that is given up', (wire) => {
  it('sends nothing any more, not even what was waiting to be taken in (I11)', async () => {
    let connection: Socket | undefined;
    const server = await wallet(({ socket }) => {
      connection ??= socket;
      reply(socket, 200, '{}');
      // As if the line had gone: what comes next is in the system of the sender.
      socket.pause();
    }, wire);
    const http = client(server.origin, { connections: 1 });
    await http.exchange(post(), deadlineIn(PATIENT_MS));
    const exchange = await http.exchange(post({ body: LONG }), deadlineIn(300));
    expect(exchange).toMatchObject({ kind: 'failed', fault: 'timeout' });
    if (connection === undefined) throw new Error('no connection');
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    connection.once('close', () => resolve());
    connection.resume();
    await closed;
    expect(server.requests).toHaveLength(1);
  });

  it('leaves the calls beside it alone (I7)', async () => {
    const server = await wallet(() => undefined, wire);
    const http = client(server.origin, { connections: 2 });
    const sibling = http.exchange(post(), deadlineIn(PATIENT_MS));
    const { socket } = await server.arrived(1);
    expect(await http.exchange(post(), deadlineIn(SOON_MS))).toMatchObject({ fault: 'timeout' });
    reply(socket, 200, '{}');
    expect(await sibling).toMatchObject({ kind: 'response', status: 200 });
  });

  it('ends its own connection alone: the next call has a new one', async () => {
    const server = await wallet(({ socket }, index) => {
      if (index === 1) reply(socket, 200, '{}');
    }, wire);
    const http = client(server.origin, { connections: 1 });
    expect(await http.exchange(post(), deadlineIn(SOON_MS))).toMatchObject({ fault: 'timeout' });
    expect(await http.exchange(post(), deadlineIn(PATIENT_MS))).toMatchObject({ kind: 'response' });
    expect([server.requests.length, server.connections]).toEqual([2, 2]);
  });
});
