import { once } from 'node:events';
import tls, { TLSSocket, type TlsOptions } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { createConnector } from '../../src/outbound/connector.ts';
import { AUTHORITY, SERVER } from '../wallets/support/private-authority.ts';
import { portOf } from './support/client.ts';

/** Connects to a wallet; each time: whether it resumed a session, and so showed no certificate. */
async function connections(maxVersion: TlsOptions['maxVersion']) {
  const server = tls.createServer({ ...SERVER, maxVersion }, (socket) => {
    socket.on('error', () => undefined).end('ticket');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  const port = `${portOf(server)}`;
  let nowMs = 0;
  const open = createConnector({
    allowPrivate: true,
    timeoutMs: 2_000,
    tls: { ca: AUTHORITY },
    addressesOf: async () => [{ address: '127.0.0.1', family: 4 }],
    nowMs: () => nowMs,
  });
  const target = { protocol: 'https:', hostname: 'localhost', host: `localhost:${port}`, port };
  return {
    passMs: (ms: number) => {
      nowMs += ms;
    },
    isResumed: () =>
      new Promise<boolean>((resolve, reject) => {
        open(target, (...[error, socket]) => {
          if (!(socket instanceof TLSSocket)) return reject(error);
          const isResumed = socket.isSessionReused();
          // A ticket comes behind the handshake.
          socket.resume().once('close', () => resolve(isResumed));
        });
      }),
  };
}

it.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a wallet shows its certificate again each minute: it may have expired (%s)',
  async (version) => {
    const wallet = await connections(version);
    expect(await wallet.isResumed()).toBe(false);
    wallet.passMs(30_000);
    expect(await wallet.isResumed()).toBe(true);
    wallet.passMs(29_999);
    expect(await wallet.isResumed()).toBe(true);
    wallet.passMs(1);
    expect(await wallet.isResumed()).toBe(false);
    expect(await wallet.isResumed()).toBe(true);
  },
);
