import type { LookupAddress } from 'node:dns';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { isPublicAddress } from '../../src/lib/public-address.ts';
import { createFinder } from '../../src/outbound/connector.ts';
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

describe('the lookup', () => {
  const PUBLIC = { address: '8.8.8.8', family: 4 };
  const PRIVATE = { address: '10.0.0.1', family: 4 };

  function find(found: LookupAddress[]): Promise<unknown> {
    const guarded = createFinder({
      allows: isPublicAddress,
      onUnanswered: () => undefined,
      names: { find: (_host, _options, { done }) => done(null, found) },
    });
    return new Promise((resolve, reject) => {
      guarded('wallet.example', (error, addresses) =>
        error === null ? resolve(addresses) : reject(error),
      );
    });
  }

  it('gives what the system found', async () => {
    expect(await find([PUBLIC])).toEqual([PUBLIC]);
  });

  it('refuses a name as soon as one of its addresses is private, and says which', async () => {
    await expect(find([PUBLIC, PRIVATE])).rejects.toThrow('wallet.example is 10.0.0.1');
  });

  it('gives eight addresses of each family, however many a name has, and judges all of them (I7)', async () => {
    const many = (family: number, address: (at: number) => string) =>
      Array.from({ length: 2_000 }, (_, at) => ({ family, address: address(at) }));
    const ipv4 = many(4, (at) => `8.8.${at >> 8}.${at & 255}`);
    const ipv6 = many(6, (at) => `2600::${at.toString(16)}`);
    const all = [...ipv6, ...ipv4];
    expect(await find(all)).toEqual([...ipv6.slice(0, 8), ...ipv4.slice(0, 8)]);
    await expect(find([...all, PRIVATE])).rejects.toThrow('wallet.example is 10.0.0.1');
  });

  it('refuses a name without addresses', async () => {
    await expect(find([])).rejects.toThrow('has no address');
  });

  it('says of which name the known addresses are used, and judges them as new ones', async () => {
    const unanswered: string[] = [];
    const guarded = createFinder({
      allows: isPublicAddress,
      onUnanswered: (hostname) => unanswered.push(hostname),
      names: {
        find: (_host, _options, asker) => {
          asker.onUnanswered();
          asker.done(null, [PRIVATE]);
        },
      },
    });
    const refused = new Promise((resolve) => {
      guarded('wallet.example', resolve);
    });
    expect(await refused).toHaveProperty('code', 'PRIVATE_ADDRESS');
    expect(unanswered).toEqual(['wallet.example']);
  });
});
