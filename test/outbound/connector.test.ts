import type { LookupAddress } from 'node:dns';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { createConnector } from '../../src/outbound/connector.ts';
import { HttpClient } from '../../src/outbound/http-client.ts';
import { deadlineIn } from '../wallets/support/calls.ts';
import { reply, startRawWallet } from '../wallets/support/raw-wallet.ts';

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function callTo(host: string, allowPrivate: boolean) {
  const server = await startRawWallet(({ socket }) => reply(socket, 200, '{}'));
  const http = new HttpClient({
    clock: systemClock,
    origin: `http://${host}:${server.port}`,
    allowPrivate,
    timeoutMs: 3000,
    connections: 1,
  });
  opened.push(http, server);
  const request = {
    method: 'POST',
    path: '/',
    headers: {},
    body: Buffer.from('{}'),
    answerBytesMax: 100,
  } as const;
  return { exchange: await http.exchange(request, deadlineIn(3000)), server };
}

describe('connections of a wallet that must be public', () => {
  it.each(['127.0.0.1', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])(
    'are never opened to %s',
    async (host) => {
      const { exchange, server } = await callTo(host, false);
      expect(exchange).toMatchObject({ kind: 'notSent', reason: 'connection' });
      expect(exchange).toHaveProperty('error', expect.stringContaining('not a public address'));
      expect(server.connections).toBe(0);
    },
  );

  it.each(['127.0.0.1', 'localhost'])(
    'are opened to %s if private ones are allowed',
    async (host) => {
      const { exchange } = await callTo(host, true);
      expect(exchange).toMatchObject({ kind: 'response', status: 200 });
    },
  );
});

describe('a name', () => {
  const PUBLIC = { address: '2001:4860:4860::8888', family: 6 };
  const PRIVATE = { address: '127.0.0.1', family: 4 };

  /** Connects to a name that has these addresses, each time the next. */
  async function connectTwice(allowPrivate: boolean, ...answers: readonly LookupAddress[][]) {
    const server = await startRawWallet(() => undefined);
    opened.push(server);
    const left = [...answers];
    const connect = createConnector({
      allowPrivate,
      timeoutMs: 100,
      addressesOf: async () => left.shift() ?? [],
    });
    const port = `${server.port}`;
    const target = { protocol: 'http:', hostname: 'wallet.example', port };
    const errors: (Error | null)[] = [];
    for (const _ of answers) {
      errors.push(
        await new Promise((resolve) => {
          connect(target, (...[error, socket]) => {
            socket?.destroy();
            resolve(error);
          });
        }),
      );
    }
    return { errors, server };
  }

  it('that leads elsewhere later is checked again when a connection is opened (DNS rebinding)', async () => {
    const { errors, server } = await connectTwice(false, [PUBLIC], [PRIVATE]);
    expect(errors[0]).not.toHaveProperty('code', 'PRIVATE_ADDRESS');
    expect(errors[1]).toHaveProperty('code', 'PRIVATE_ADDRESS');
    expect(errors[1]).toHaveProperty('message', expect.stringContaining('is 127.0.0.1'));
    expect(server.connections).toBe(0);
  });

  it('is refused as soon as one of its addresses is private', async () => {
    const { errors, server } = await connectTwice(false, [PUBLIC, PRIVATE]);
    expect(errors[0]).toHaveProperty('code', 'PRIVATE_ADDRESS');
    expect(server.connections).toBe(0);
  });

  it('is reached by the next address where the first refuses', async () => {
    const { errors } = await connectTwice(true, [{ address: '127.0.0.2', family: 4 }, PRIVATE]);
    expect(errors).toEqual([null]);
  });

  it('without addresses is an error', async () => {
    const { errors } = await connectTwice(true, []);
    expect(errors[0]).toHaveProperty('message', 'wallet.example has no address');
  });
});
