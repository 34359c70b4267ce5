import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/domain/clock.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import type { WalletSettings } from '../../src/wallets/wallet-config.ts';
import { createWallets, type Wallets } from '../../src/wallets/wallets.ts';
import { readCall, walletConfig } from './support/calls.ts';
import { AUTHORITY, CLIENT, SERVER, STRANGER } from './support/private-authority.ts';

/** A wallet with a certificate of a private authority, which accepts only clients certified by it. */
let server: Server;
let baseUrl: string;
let wallets: Wallets;
/** The callers, by their certificates. */
let callers: (string | undefined)[];

beforeAll(async () => {
  const options = { ...SERVER, ca: AUTHORITY, requestCert: true, rejectUnauthorized: true };
  server = createServer(options, (request, response) => {
    const socket = request.socket as TLSSocket;
    callers.push(String(socket.getPeerCertificate().subject.CN));
    response.setHeader('content-type', 'application/json');
    response.end('{"userId":"u1","amount":1,"currency":"USD"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `https://localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise<unknown>((resolve) => server.close(resolve)));
beforeEach(() => {
  callers = [];
  wallets = createWallets({
    metrics: createMetrics(),
    logger: pino({ level: 'silent' }),
    clock: systemClock,
  });
  return () => wallets.close();
});

function apply(tls: WalletSettings['tls']): void {
  wallets.apply([walletConfig('alpha', { baseUrl, tls })]);
}

const ask = async () => await wallets.get('alpha')?.read(readCall());

describe('a wallet behind a private authority that asks for a client certificate', () => {
  it('is reached with the authority, the certificate and its key', async () => {
    apply({ ca: AUTHORITY, ...CLIENT });
    expect(await ask()).toMatchObject({ kind: 'answered' });
    expect(callers).toEqual(['the gateway']);
  });

  it.each([
    ['without a certificate', undefined],
    ['with a stranger’s', STRANGER],
  ])('hears nothing from a caller %s', async (_how, identity) => {
    apply({ ca: AUTHORITY, ...identity });
    expect((await ask())?.kind).not.toBe('answered');
    expect(callers).toEqual([]);
  });

  it('is not believed on an open connection either, once its authority is withdrawn', async () => {
    apply({ ca: AUTHORITY, ...CLIENT });
    expect(await ask()).toMatchObject({ kind: 'answered' });
    apply({ ca: STRANGER.cert, ...CLIENT });
    expect(await ask()).toMatchObject({ kind: 'notSent', reason: 'connection' });
  });

  it('is called with the new certificate as soon as that is in force', async () => {
    apply({ ca: AUTHORITY, ...STRANGER });
    expect((await ask())?.kind).not.toBe('answered');
    apply({ ca: AUTHORITY, ...CLIENT });
    expect(await ask()).toMatchObject({ kind: 'answered' });
    expect(callers).toEqual(['the gateway']);
  });
});
